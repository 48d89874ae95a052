-- In words, which measurements a number comes from.
ALTER TABLE predictions ADD COLUMN evidence TEXT NOT NULL DEFAULT '';
