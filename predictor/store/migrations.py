"""The named steps that make the store's tables; a step that has shipped is never edited.

Each step runs through sqlite-utils' migrations, which record its name in the same transaction.
That library runs the pending steps and ignores names that it does not know, so the check for a
store of a newer program is ours (:func:`unknown_names`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlite_utils import Database

_SET = "closertome"


class Migration(NamedTuple):
    """One step: its name, which is stored, and its statements, which run in order."""

    name: str
    statements: tuple[str, ...]


_FIRST = Migration(
    "0001_tables",
    (
        """
        CREATE TABLE devices (
            id TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
            name TEXT NOT NULL,
            vendor TEXT NOT NULL,
            family TEXT NOT NULL,
            description TEXT NOT NULL,
            updated_ns INTEGER NOT NULL
        )
        """,
        # The catalogue ships with the program, so device_id has no row of its own to refer to.
        """
        CREATE TABLE targets (
            id INTEGER PRIMARY KEY,
            device_id TEXT NOT NULL CHECK (device_id <> ''),
            runtime TEXT NOT NULL,
            precision TEXT NOT NULL,
            threads INTEGER NOT NULL CHECK (threads >= 0),
            batch INTEGER NOT NULL CHECK (batch >= 0),
            UNIQUE (device_id, runtime, precision, threads, batch)
        )
        """,
        """
        CREATE TABLE models (
            fingerprint TEXT NOT NULL PRIMARY KEY CHECK (fingerprint <> ''),
            graph BLOB NOT NULL CHECK (length(graph) > 0),
            created_ns INTEGER NOT NULL
        )
        """,
        """
        CREATE TABLE model_files (
            id INTEGER PRIMARY KEY,
            fingerprint TEXT NOT NULL REFERENCES models (fingerprint) ON DELETE CASCADE,
            path TEXT NOT NULL,
            size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
            modified_ns INTEGER NOT NULL,
            seen_ns INTEGER NOT NULL,
            UNIQUE (fingerprint, path, size_bytes, modified_ns)
        )
        """,
        """
        CREATE TABLE probe_sessions (
            id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 32),
            target_id INTEGER NOT NULL REFERENCES targets (id) ON DELETE RESTRICT,
            plan TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'cancelled', 'failed')),
            created_ns INTEGER NOT NULL,
            finished_ns INTEGER
        )
        """,
        "CREATE INDEX probe_sessions_target ON probe_sessions (target_id)",
        # A measurement takes time; a prediction may be 0, for a model that only renames its input.
        # A measurement outlives its session, and stands without the graph that was measured.
        """
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
        )
        """,
        "CREATE INDEX measurements_fingerprint ON measurements (fingerprint)",
        "CREATE INDEX measurements_target ON measurements (target_id)",
        "CREATE INDEX measurements_session ON measurements (session_id)",
        """
        CREATE TABLE signatures (
            id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 32),
            target_id INTEGER NOT NULL REFERENCES targets (id) ON DELETE RESTRICT,
            active INTEGER NOT NULL CHECK (active IN (0, 1)),
            created_ns INTEGER NOT NULL
        )
        """,
        "CREATE INDEX signatures_target ON signatures (target_id)",
        "CREATE UNIQUE INDEX signatures_active ON signatures (target_id) WHERE active = 1",
        """
        CREATE TABLE signature_measurements (
            signature_id TEXT NOT NULL REFERENCES signatures (id) ON DELETE CASCADE,
            position INTEGER NOT NULL CHECK (position >= 0),
            measurement_id TEXT NOT NULL REFERENCES measurements (id) ON DELETE RESTRICT,
            PRIMARY KEY (signature_id, position),
            UNIQUE (signature_id, measurement_id)
        )
        """,
        "CREATE INDEX signature_measurements_back ON signature_measurements (measurement_id)",
        """
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
        )
        """,
        "CREATE INDEX predictions_created ON predictions (created_ns)",
        "CREATE INDEX predictions_fingerprint ON predictions (fingerprint)",
        "CREATE INDEX predictions_file ON predictions (file_id)",
        "CREATE INDEX predictions_target ON predictions (target_id)",
        "CREATE INDEX predictions_signature ON predictions (signature_id)",
        """
        CREATE TABLE reports (
            id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 32),
            title TEXT NOT NULL,
            path TEXT NOT NULL,
            created_ns INTEGER NOT NULL
        )
        """,
        """
        CREATE TABLE report_predictions (
            report_id TEXT NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
            prediction_id TEXT NOT NULL REFERENCES predictions (id) ON DELETE CASCADE,
            PRIMARY KEY (report_id, prediction_id)
        )
        """,
        "CREATE INDEX report_predictions_prediction ON report_predictions (prediction_id)",
        """
        CREATE TABLE settings (
            key TEXT NOT NULL PRIMARY KEY CHECK (key <> ''),
            value TEXT NOT NULL
        )
        """,
    ),
)

_PROBES = Migration(
    "0002_probes",
    (
        # The networks of a session and the end of each. The outcome of a measured probe is
        # its summary, that of another everything that was seen: samples are never thrown away.
        """
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
        )
        """,
        "CREATE INDEX probes_measurement ON probes (measurement_id)",
        # Facts of the machine, the protocol and the drift, as JSON objects. A deleted signature
        # can be restored, and predictions still refer to it.
        "ALTER TABLE probe_sessions ADD COLUMN facts TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE signatures ADD COLUMN facts TEXT NOT NULL DEFAULT '{}'",
        """
        ALTER TABLE signatures ADD COLUMN deleted_ns INTEGER
            CHECK (active = 0 OR deleted_ns IS NULL)
        """,
        """
        ALTER TABLE signatures ADD COLUMN session_id TEXT
            REFERENCES probe_sessions (id) ON DELETE SET NULL
        """,
        "CREATE INDEX signatures_session ON signatures (session_id)",
    ),
)

_HISTORY = Migration(
    "0003_history",
    (
        # Tags and note of the user stand apart from a prediction, which is never changed.
        """
        CREATE TABLE prediction_marks (
            prediction_id TEXT NOT NULL PRIMARY KEY
                REFERENCES predictions (id) ON DELETE CASCADE,
            tags TEXT NOT NULL,
            note TEXT NOT NULL
        )
        """,
        # Settings of the prediction besides engine, target and signature, as a JSON object.
        "ALTER TABLE predictions ADD COLUMN settings TEXT NOT NULL DEFAULT '{}'",
        # The engine's prediction where the latency itself was measured.
        "ALTER TABLE predictions ADD COLUMN predicted_ms REAL CHECK (predicted_ms >= 0)",
        # Both can be taken back; a deleted prediction goes for good after a while.
        "ALTER TABLE predictions ADD COLUMN deleted_ns INTEGER",
        "ALTER TABLE measurements ADD COLUMN withdrawn_ns INTEGER",
        # The prediction that a measured latency was recorded for.
        """
        ALTER TABLE measurements ADD COLUMN prediction_id TEXT
            REFERENCES predictions (id) ON DELETE SET NULL
        """,
        "CREATE INDEX measurements_prediction ON measurements (prediction_id)",
    ),
)

_PROVENANCE = Migration(
    "0004_provenance",
    (
        # Source of a measured latency that stands in the place of a predicted one.
        "ALTER TABLE predictions ADD COLUMN provenance TEXT NOT NULL DEFAULT ''",
    ),
)

# Targets of this machine under its former id, and those that stand for them now.
_FORMER = "(SELECT id FROM targets WHERE device_id = 'this')"
_NOW = """
    (SELECT now.id FROM targets AS former JOIN targets AS now
        ON now.runtime = former.runtime AND now.precision = former.precision
        AND now.threads = former.threads AND now.batch = former.batch
        WHERE former.id = target_id AND now.device_id = 'this-machine')
"""
_REFERRING = ("probe_sessions", "measurements", "signatures", "predictions")

_THIS_MACHINE = Migration(
    "0005_this_machine",
    (
        # A target that is there under both ids keeps the signature that is active under the new.
        "UPDATE OR IGNORE targets SET device_id = 'this-machine' WHERE device_id = 'this'",
        f"""
        UPDATE signatures SET active = 0 WHERE target_id IN {_FORMER} AND EXISTS (
            SELECT 1 FROM signatures AS other WHERE other.active = 1 AND other.target_id = {_NOW})
        """,  # noqa: S608 - our own words
        *(
            f"UPDATE {table} SET target_id = {_NOW} WHERE target_id IN {_FORMER}"  # noqa: S608
            for table in _REFERRING
        ),
        "DELETE FROM targets WHERE device_id = 'this'",
    ),
)

_ADAPTATION = Migration(
    "0006_adaptation",
    (
        # Whether the network itself was fine-tuned to the signature that was used, and whether
        # its operators' times were.
        """
        ALTER TABLE predictions ADD COLUMN fine_tuned INTEGER NOT NULL DEFAULT 0
            CHECK (fine_tuned IN (0, 1))
        """,
        """
        ALTER TABLE predictions ADD COLUMN by_operators INTEGER NOT NULL DEFAULT 0
            CHECK (by_operators IN (0, 1))
        """,
    ),
)

_EVIDENCE = Migration(
    "0007_evidence",
    # In words, which measurements a number comes from.
    ("ALTER TABLE predictions ADD COLUMN evidence TEXT NOT NULL DEFAULT ''",),
)

_TOKEN_RATES = Migration(
    "0008_token_rates",
    (
        # Of a language model: architecture and run are one JSON object, for nothing is sought by
        # them.
        """
        CREATE TABLE token_rates (
            device_id TEXT NOT NULL PRIMARY KEY CHECK (device_id <> ''),
            tokens_per_s REAL NOT NULL CHECK (tokens_per_s > 0),
            run TEXT NOT NULL,
            updated_ns INTEGER NOT NULL
        )
        """,
    ),
)

_UNSTABLE = Migration(
    "0009_unstable",
    # In words, why the probing that a number rests on failed its checks.
    ("ALTER TABLE predictions ADD COLUMN unstable TEXT NOT NULL DEFAULT ''",),
)

MIGRATIONS: tuple[Migration, ...] = (
    _FIRST,
    _PROBES,
    _HISTORY,
    _PROVENANCE,
    _THIS_MACHINE,
    _ADAPTATION,
    _EVIDENCE,
    _TOKEN_RATES,
    _UNSTABLE,
)


def applied_names(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the steps that made this store, in order; none for a new file."""
    table = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_sqlite_migrations'"
    ).fetchone()
    if not table:
        return []
    rows = connection.execute(
        "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY id", (_SET,)
    )
    return [name for (name,) in rows]


def unknown_names(applied: Sequence[str]) -> list[str]:
    """Return the names of steps that this program does not know: a newer program's."""
    names = {migration.name for migration in MIGRATIONS}
    return [name for name in applied if name not in names]


def pending_names(applied: Sequence[str]) -> list[str]:
    """Return the names of the steps that are still to run, in order."""
    return [migration.name for migration in MIGRATIONS if migration.name not in applied]


def apply_pending(connection: sqlite3.Connection) -> None:
    """Run the pending steps inside the transaction that the caller has open."""
    from sqlite_utils import Database, Migrations  # noqa: PLC0415 - see Database.tables

    steps = Migrations(_SET)
    for migration in MIGRATIONS:
        steps(name=migration.name)(_runner(migration))
    # Plugins of sqlite-utils that are installed on this machine have no business in the store.
    steps.apply(Database(connection, recursive_triggers=False, execute_plugins=False))


def _runner(migration: Migration) -> Callable[[Database], None]:
    def run(database: Database) -> None:
        for statement in migration.statements:
            database.execute(statement)

    return run
