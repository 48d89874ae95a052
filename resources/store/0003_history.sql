-- Tags and note of the user stand apart from a prediction, which is never changed.
CREATE TABLE prediction_marks (
    prediction_id TEXT NOT NULL PRIMARY KEY
        REFERENCES predictions (id) ON DELETE CASCADE,
    tags TEXT NOT NULL,
    note TEXT NOT NULL
);
-- Settings of the prediction besides engine, target and signature, as a JSON object.
ALTER TABLE predictions ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
-- The engine's prediction where the latency itself was measured.
ALTER TABLE predictions ADD COLUMN predicted_ms REAL CHECK (predicted_ms >= 0);
-- Both can be taken back; a deleted prediction goes for good after a while.
ALTER TABLE predictions ADD COLUMN deleted_ns INTEGER;
ALTER TABLE measurements ADD COLUMN withdrawn_ns INTEGER;
-- The prediction that a measured latency was recorded for.
ALTER TABLE measurements ADD COLUMN prediction_id TEXT
    REFERENCES predictions (id) ON DELETE SET NULL;
CREATE INDEX measurements_prediction ON measurements (prediction_id);
