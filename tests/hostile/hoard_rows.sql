-- Tries: memory by a query without end.
-- Group: its group's memory.
-- Watch: the watch on memory.
-- Ends: memory error timeout.

WITH RECURSIVE n(t) AS (SELECT hex(randomblob(9000000)) UNION ALL SELECT t || 'x' FROM n) SELECT count(DISTINCT t) FROM n
