-- Of a language model: architecture and run are one JSON object, for nothing is sought by
-- them.
CREATE TABLE token_rates (
    device_id TEXT NOT NULL PRIMARY KEY CHECK (device_id <> ''),
    tokens_per_s REAL NOT NULL CHECK (tokens_per_s > 0),
    run TEXT NOT NULL,
    updated_ns INTEGER NOT NULL
);
