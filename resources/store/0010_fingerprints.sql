-- Fingerprints by a former recipe, and those that took their place when the model was opened.
CREATE TABLE former_fingerprints (
    former TEXT NOT NULL PRIMARY KEY CHECK (former <> ''),
    fingerprint TEXT NOT NULL CHECK (fingerprint <> '')
);
