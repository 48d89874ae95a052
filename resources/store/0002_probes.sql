-- The networks of a session and the end of each. The outcome of a measured probe is
-- its summary, that of another everything that was seen: samples are never thrown away.
CREATE TABLE probes (
    session_id TEXT NOT NULL REFERENCES probe_sessions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL CHECK (position >= 0),
    name TEXT NOT NULL CHECK (name <> ''),
    fingerprint TEXT NOT NULL CHECK (fingerprint <> ''),
    state TEXT NOT NULL
        CHECK (state IN ('waiting', 'measured', 'inconclusive', 'failed', 'skipped')),
    reason TEXT NOT NULL,
    outcome TEXT NOT NULL,
    measurement_id TEXT REFERENCES measurements (id) ON DELETE RESTRICT,
    PRIMARY KEY (session_id, position),
    UNIQUE (session_id, name),
    CHECK ((state = 'measured') = (measurement_id IS NOT NULL))
);
CREATE INDEX probes_measurement ON probes (measurement_id);
-- Facts of the machine, the protocol and the drift, as JSON objects. A deleted signature
-- can be restored, and predictions still refer to it.
ALTER TABLE probe_sessions ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
ALTER TABLE signatures ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
ALTER TABLE signatures ADD COLUMN deleted_ns INTEGER
    CHECK (active = 0 OR deleted_ns IS NULL);
ALTER TABLE signatures ADD COLUMN session_id TEXT
    REFERENCES probe_sessions (id) ON DELETE SET NULL;
CREATE INDEX signatures_session ON signatures (session_id);
