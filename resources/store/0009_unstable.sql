-- In words, why the probing that a number rests on failed its checks.
ALTER TABLE predictions ADD COLUMN unstable TEXT NOT NULL DEFAULT '';
