-- Whether the network itself was fine-tuned to the signature that was used, and whether
-- its operators' times were.
ALTER TABLE predictions ADD COLUMN fine_tuned INTEGER NOT NULL DEFAULT 0
    CHECK (fine_tuned IN (0, 1));
ALTER TABLE predictions ADD COLUMN by_operators INTEGER NOT NULL DEFAULT 0
    CHECK (by_operators IN (0, 1));
