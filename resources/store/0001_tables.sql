CREATE TABLE devices (
    id TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    name TEXT NOT NULL,
    vendor TEXT NOT NULL,
    family TEXT NOT NULL,
    description TEXT NOT NULL,
    updated_ns INTEGER NOT NULL
);
-- The catalogue ships with the program, so device_id has no row of its own to refer to.
CREATE TABLE targets (
    id INTEGER PRIMARY KEY,
    device_id TEXT NOT NULL CHECK (device_id <> ''),
    runtime TEXT NOT NULL,
    precision TEXT NOT NULL,
    threads INTEGER NOT NULL CHECK (threads >= 0),
    batch INTEGER NOT NULL CHECK (batch >= 0),
    UNIQUE (device_id, runtime, precision, threads, batch)
);
CREATE TABLE models (
    fingerprint TEXT NOT NULL PRIMARY KEY CHECK (fingerprint <> ''),
    graph BLOB NOT NULL CHECK (length(graph) > 0),
    created_ns INTEGER NOT NULL
);
CREATE TABLE model_files (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL REFERENCES models (fingerprint) ON DELETE CASCADE,
    path TEXT NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    modified_ns INTEGER NOT NULL,
    seen_ns INTEGER NOT NULL,
    UNIQUE (fingerprint, path, size_bytes, modified_ns)
);
CREATE TABLE probe_sessions (
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 32),
    target_id INTEGER NOT NULL REFERENCES targets (id) ON DELETE RESTRICT,
    plan TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'cancelled', 'failed')),
    created_ns INTEGER NOT NULL,
    finished_ns INTEGER
);
CREATE INDEX probe_sessions_target ON probe_sessions (target_id);
-- A measurement takes time; a prediction may be 0, for a model that only renames its input.
-- A measurement outlives its session, and stands without the graph that was measured.
CREATE TABLE measurements (
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 32),
    fingerprint TEXT NOT NULL CHECK (fingerprint <> ''),
    target_id INTEGER NOT NULL REFERENCES targets (id) ON DELETE RESTRICT,
    session_id TEXT REFERENCES probe_sessions (id) ON DELETE SET NULL,
    samples_ns BLOB NOT NULL CHECK (length(samples_ns) % 8 = 0),
    value_ms REAL NOT NULL CHECK (value_ms > 0),
    statistic TEXT NOT NULL CHECK (statistic <> ''),
    protocol TEXT NOT NULL,
    provenance TEXT NOT NULL,
    created_ns INTEGER NOT NULL
);
CREATE INDEX measurements_fingerprint ON measurements (fingerprint);
CREATE INDEX measurements_target ON measurements (target_id);
CREATE INDEX measurements_session ON measurements (session_id);
CREATE TABLE signatures (
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 32),
    target_id INTEGER NOT NULL REFERENCES targets (id) ON DELETE RESTRICT,
    active INTEGER NOT NULL CHECK (active IN (0, 1)),
    created_ns INTEGER NOT NULL
);
CREATE INDEX signatures_target ON signatures (target_id);
CREATE UNIQUE INDEX signatures_active ON signatures (target_id) WHERE active = 1;
CREATE TABLE signature_measurements (
    signature_id TEXT NOT NULL REFERENCES signatures (id) ON DELETE CASCADE,
    position INTEGER NOT NULL CHECK (position >= 0),
    measurement_id TEXT NOT NULL REFERENCES measurements (id) ON DELETE RESTRICT,
    PRIMARY KEY (signature_id, position),
    UNIQUE (signature_id, measurement_id)
);
CREATE INDEX signature_measurements_back ON signature_measurements (measurement_id);
CREATE TABLE predictions (
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 32),
    fingerprint TEXT NOT NULL REFERENCES models (fingerprint) ON DELETE CASCADE,
    file_id INTEGER REFERENCES model_files (id) ON DELETE SET NULL,
    model TEXT NOT NULL,
    target_id INTEGER NOT NULL REFERENCES targets (id) ON DELETE RESTRICT,
    engine TEXT NOT NULL CHECK (engine <> ''),
    settings_hash TEXT NOT NULL CHECK (length(settings_hash) = 64),
    created_ns INTEGER NOT NULL,
    basis TEXT CHECK (basis IN ('measured', 'probed', 'zero-shot', 'analytic')),
    latency_ms REAL CHECK (latency_ms >= 0),
    low80_ms REAL CHECK (low80_ms >= 0),
    high80_ms REAL CHECK (high80_ms >= low80_ms),
    low95_ms REAL CHECK (low95_ms >= 0),
    high95_ms REAL CHECK (high95_ms >= low95_ms),
    bound_ms REAL CHECK (bound_ms >= 0),
    fits_memory INTEGER CHECK (fits_memory IN (0, 1)),
    problem TEXT NOT NULL,
    out_of_distribution TEXT NOT NULL,
    signature_id TEXT REFERENCES signatures (id) ON DELETE RESTRICT,
    flagged_operators TEXT NOT NULL,
    CHECK ((latency_ms IS NULL) = (basis IS NULL)),
    CHECK ((low80_ms IS NULL) = (high80_ms IS NULL)),
    CHECK ((low95_ms IS NULL) = (high95_ms IS NULL))
);
CREATE INDEX predictions_created ON predictions (created_ns);
CREATE INDEX predictions_fingerprint ON predictions (fingerprint);
CREATE INDEX predictions_file ON predictions (file_id);
CREATE INDEX predictions_target ON predictions (target_id);
CREATE INDEX predictions_signature ON predictions (signature_id);
CREATE TABLE reports (
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 32),
    title TEXT NOT NULL,
    path TEXT NOT NULL,
    created_ns INTEGER NOT NULL
);
CREATE TABLE report_predictions (
    report_id TEXT NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    prediction_id TEXT NOT NULL REFERENCES predictions (id) ON DELETE CASCADE,
    PRIMARY KEY (report_id, prediction_id)
);
CREATE INDEX report_predictions_prediction ON report_predictions (prediction_id);
CREATE TABLE settings (
    key TEXT NOT NULL PRIMARY KEY CHECK (key <> ''),
    value TEXT NOT NULL
);
