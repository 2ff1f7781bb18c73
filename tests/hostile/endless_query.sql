-- Tries: the processor without end, in a query.
-- Group: the clock.
-- Watch: the clock.
-- Ends: timeout.

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
