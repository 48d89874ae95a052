-- A target that is there under both ids keeps the signature that is active under the new.
UPDATE OR IGNORE targets SET device_id = 'this-machine' WHERE device_id = 'this';
UPDATE signatures SET active = 0
WHERE target_id IN (SELECT id FROM targets WHERE device_id = 'this') AND EXISTS (
    SELECT 1 FROM signatures AS other WHERE other.active = 1 AND other.target_id = (
        SELECT now.id FROM targets AS former JOIN targets AS now
            ON now.runtime = former.runtime AND now.precision = former.precision
            AND now.threads = former.threads AND now.batch = former.batch
        WHERE former.id = target_id AND now.device_id = 'this-machine'
    )
);
-- What refers to a target of the former id refers to the one that stands for it now.
UPDATE probe_sessions SET target_id = (
    SELECT now.id FROM targets AS former JOIN targets AS now
        ON now.runtime = former.runtime AND now.precision = former.precision
        AND now.threads = former.threads AND now.batch = former.batch
    WHERE former.id = target_id AND now.device_id = 'this-machine'
) WHERE target_id IN (SELECT id FROM targets WHERE device_id = 'this');
UPDATE measurements SET target_id = (
    SELECT now.id FROM targets AS former JOIN targets AS now
        ON now.runtime = former.runtime AND now.precision = former.precision
        AND now.threads = former.threads AND now.batch = former.batch
    WHERE former.id = target_id AND now.device_id = 'this-machine'
) WHERE target_id IN (SELECT id FROM targets WHERE device_id = 'this');
UPDATE signatures SET target_id = (
    SELECT now.id FROM targets AS former JOIN targets AS now
        ON now.runtime = former.runtime AND now.precision = former.precision
        AND now.threads = former.threads AND now.batch = former.batch
    WHERE former.id = target_id AND now.device_id = 'this-machine'
) WHERE target_id IN (SELECT id FROM targets WHERE device_id = 'this');
UPDATE predictions SET target_id = (
    SELECT now.id FROM targets AS former JOIN targets AS now
        ON now.runtime = former.runtime AND now.precision = former.precision
        AND now.threads = former.threads AND now.batch = former.batch
    WHERE former.id = target_id AND now.device_id = 'this-machine'
) WHERE target_id IN (SELECT id FROM targets WHERE device_id = 'this');
DELETE FROM targets WHERE device_id = 'this';
