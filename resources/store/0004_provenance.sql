-- Source of a measured latency that stands in the place of a predicted one.
ALTER TABLE predictions ADD COLUMN provenance TEXT NOT NULL DEFAULT '';
