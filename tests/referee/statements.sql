-- rewritten: FROM first
FROM f JOIN d ON f.p = d.k SELECT f.x WHERE d.c = 'a'

-- rewritten: FROM first, no WHERE
FROM f JOIN d ON f.p = d.k AND d.c = 'a' SELECT f.x

-- rewritten: FROM first, GROUP BY
FROM f, d SELECT f.p, count(*) WHERE f.p = d.k AND d.c = 'a' GROUP BY f.p

-- rewritten: FROM first, an OR
FROM f JOIN d ON f.p = d.k SELECT f.x WHERE d.c = 'a' OR d.c = 'z'

-- rewritten: FROM first, null-extended
FROM d LEFT JOIN f ON f.p = d.k AND d.c = 'a' SELECT f.x, d.k

-- rewritten: FROM first, LATERAL VIEW twice
FROM f JOIN d ON f.p = d.k AND d.c = 'a' LATERAL VIEW explode(array(1, 2)) v AS n SELECT f.x, m LATERAL VIEW explode(array(n, 3)) w AS m

-- rewritten: FROM first, behind UNION
SELECT y FROM g UNION ALL FROM f JOIN d ON f.p = d.k AND d.c = 'a' SELECT x ORDER BY x DESC LIMIT 1

-- rewritten: FROM first, before UNION
FROM f JOIN d ON f.p = d.k SELECT x WHERE d.c = 'a' ORDER BY x LIMIT 1 UNION ALL SELECT y FROM g

-- rewritten: FROM first, in parentheses
SELECT * FROM (FROM f JOIN d ON f.p = d.k SELECT f.x WHERE d.c = 'a')

-- rewritten: FROM first, behind WITH
WITH c AS (SELECT * FROM f) FROM c JOIN d ON c.p = d.k SELECT x WHERE d.c = 'a'

-- rewritten: FROM first, in EXISTS
SELECT x FROM f WHERE EXISTS (FROM d SELECT 1 WHERE k = p AND c = 'a')

-- rewritten: several SELECTs
FROM f JOIN d ON f.p = d.k
SELECT x WHERE d.c = 'a' SELECT p WHERE d.c = 'b'

-- rewritten: several SELECTs, limits
FROM f JOIN d ON f.p = d.k SELECT x WHERE d.c = 'a' ORDER BY x LIMIT 1 SELECT p WHERE d.c = 'b' ORDER BY p DESC LIMIT 1

-- rewritten: several SELECTs, one table
FROM (SELECT f.x, d.c FROM f JOIN d ON f.p = d.k WHERE d.c = 'a') q SELECT x SELECT length(c)

-- rewritten: several SELECTs, each bounds
FROM (SELECT x, p FROM f) q JOIN d ON q.p = d.k
SELECT x WHERE d.c = 'a' SELECT x + 1 WHERE d.c = 'b'

-- left alone: several SELECTs, one bounds
FROM (SELECT x, p FROM f) q JOIN d ON q.p = d.k
SELECT x WHERE d.c = 'a' SELECT x + 1

-- left alone: several SELECTs, a shared ON
FROM d LEFT JOIN f ON f.p = d.k AND d.c = 'a' SELECT x SELECT k

-- inserts: FROM first
FROM f JOIN d ON f.p = d.k
INSERT INTO statements.one SELECT x WHERE d.c = 'a'
INSERT OVERWRITE TABLE statements.two PARTITION (n = 1) SELECT x WHERE d.c = 'b'

-- inserts: IF NOT EXISTS
INSERT OVERWRITE TABLE statements.two PARTITION (n = 2) IF NOT EXISTS SELECT x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'

-- inserts: shared
FROM (SELECT x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a') q
INSERT INTO statements.one SELECT x
INSERT INTO statements.two PARTITION (n) SELECT x, x % 2

-- rewritten: in a script
BEGIN
  DECLARE c STRING DEFAULT 'b';
  IF EXISTS (SELECT 1 FROM d WHERE d.c = 'b') THEN
    SELECT x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a';
  END IF;
END

-- rewritten: columns come before a script's variables
BEGIN
  DECLARE p INT DEFAULT 1;
  SELECT x, p FROM f JOIN d ON p = d.k WHERE d.c = 'a';
END

-- rewritten: the query of FOR
BEGIN
  DECLARE n INT DEFAULT 0;
  FOR r AS SELECT x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' DO SET n = n + r.x; END FOR;
  SELECT n;
END

-- left alone: a view that the script makes
BEGIN
  CREATE OR REPLACE TEMPORARY VIEW e AS SELECT k, c FROM d;
  SELECT x FROM f JOIN e ON f.p = e.k WHERE e.c = 'a';
END

-- rewritten: an alias around a join
SELECT j.x, j.k FROM (f JOIN d ON f.p = d.k) j WHERE j.c = 'a'

-- rewritten: an alias around a semi-join, with its columns named
SELECT j.a FROM (f LEFT SEMI JOIN d ON f.p = d.k AND d.c = 'a') j (a, b, c)

-- rewritten: an alias around an outer join
SELECT * FROM (d LEFT JOIN f ON f.p = d.k AND d.c = 'a') j

-- left alone: a join under an alias, bounded from outside
SELECT j.x FROM (f CROSS JOIN (SELECT 1 AS one)) j JOIN d ON j.p = d.k WHERE d.c = 'a'

-- rewritten: TABLE as a dimension
SELECT x FROM f JOIN (TABLE d) e ON f.p = e.k WHERE e.c = 'a' UNION ALL TABLE one

-- left alone: TABLE as the fact
SELECT x FROM (TABLE f ORDER BY x) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten: two hints
SELECT /*+ BROADCAST(d) */ /*+ COALESCE(1) */ x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'

-- rewritten: FROM alone
FROM f JOIN d ON f.p = d.k AND d.c = 'a'

-- rewritten: pipes, JOIN and WHERE
FROM f |> JOIN d ON f.p = d.k |> WHERE d.c = 'a' |> SELECT x

-- rewritten: pipes, an OR
FROM f JOIN d ON f.p = d.k |> WHERE d.c = 'a' OR d.c = 'z' |> AGGREGATE sum(x) AS n GROUP BY p |> ORDER BY n |> LIMIT 3

-- rewritten: pipes, no WHERE
FROM f |> JOIN d ON f.p = d.k AND d.c = 'a' |> SELECT x |> WHERE f.x > 1

-- rewritten: pipes, WHERE before JOIN
FROM f |> WHERE x > 3 |> JOIN d ON p = k |> WHERE c = 'a'

-- rewritten: pipes behind SELECT
SELECT x, p FROM f WHERE x > 1 |> JOIN d ON p = k |> WHERE c = 'a'

-- rewritten: pipes, null-extended
FROM d |> LEFT JOIN f ON f.p = d.k AND d.c = 'a' |> SELECT f.x, k

-- rewritten: pipes, WHERE undoes the LEFT JOIN
FROM f |> LEFT JOIN d ON f.p = d.k |> WHERE d.c = 'a'

-- rewritten: pipes in EXISTS
SELECT y FROM g WHERE EXISTS (FROM f |> JOIN d ON f.p = d.k |> WHERE d.c = 'a' AND g.p = f.p |> SELECT 1)

-- rewritten: pipes, several WHEREs
FROM f, d |> WHERE f.p = d.k AND d.c = 'a' |> WHERE f.x > 1 |> SELECT x |> UNION ALL SELECT y FROM g

-- rewritten: pipes behind UNION, both branches
SELECT p, x FROM f UNION ALL SELECT p, y FROM g |> JOIN d ON p = k |> WHERE c = 'a'

-- left alone: pipes, a key that SET makes
FROM f |> SET p = p + 1 |> JOIN d ON p = k |> WHERE c = 'a'

-- left alone: pipes, a key that AGGREGATE makes
FROM f |> AGGREGATE max(x) AS p GROUP BY s |> JOIN d ON p = k |> WHERE c = 'a'

-- left alone: pipes, DROP
FROM f |> DROP s |> JOIN d ON p = k |> WHERE c = 'a'

-- rewritten: pipes, a CTE with a second reader
WITH c AS (SELECT p, x FROM f) FROM c |> JOIN d ON c.p = d.k |> WHERE d.c = 'a' |> SELECT x |> UNION ALL SELECT x FROM c

-- left alone: pipes above a LIMIT
FROM f |> ORDER BY x |> LIMIT 3 |> JOIN d ON p = k |> WHERE c = 'a'

-- left alone: pipes, EXTEND
FROM f |> EXTEND p + 1 AS q |> JOIN d ON p = k |> WHERE c = 'a'

-- left alone: pipes, names that WHERE lets through
FROM f |> WHERE x > 3 |> JOIN d ON f.p = d.k |> WHERE d.c = 'a'

-- rewritten: pipes, a JOIN behind LATERAL VIEW is above it
SELECT * FROM (FROM f LATERAL VIEW explode(array(p, 2)) v AS n |> JOIN d ON p = k |> WHERE c = 'a') q (a1, a2, a3, n, k, c) JOIN g ON q.k = g.p

-- left alone: pipes, the column of LATERAL VIEW comes before those of the JOIN
SELECT * FROM (FROM f LATERAL VIEW explode(array(x, 2)) v AS n |> JOIN d ON x = k |> WHERE c = 'a') q (a1, a2, a3, n, k, c) JOIN g ON q.n = g.p
