-- left alone, kind 1: greatest over a left join
SELECT f.id FROM f LEFT JOIN d ON f.id = d.n JOIN e ON e.z > 0 WHERE f.p = greatest(d.k, 0) AND (d.c = 'a' OR d.c IS NULL)

-- left alone, kind 1: coalesce in the ON of a second join
SELECT f.id, g.id FROM f LEFT JOIN d ON f.id = d.n JOIN g ON g.p = coalesce(d.k, 0) AND coalesce(d.c, 'a') = 'a'

-- left alone, kind 1: USING over a full join
SELECT f.id, k FROM d FULL JOIN e USING (k) JOIN f ON f.p = k WHERE d.c = 'a' OR d.c IS NULL

-- left alone, kind 1: decode over a left join
SELECT f.id FROM e LEFT JOIN d ON e.z = d.n JOIN f ON f.p = decode(d.k, NULL, 0, d.k) WHERE d.c = 'a' OR d.c IS NULL

-- left alone, kind 1: nvl2 over a left join
SELECT f.id FROM e LEFT JOIN d ON e.z = d.n AND d.c = 'a' JOIN f ON f.p = nvl2(d.k, d.k, 0)

-- left alone, kind 1: IS NOT DISTINCT FROM a null-extended side
SELECT f.id FROM e LEFT JOIN d ON e.z = d.n AND d.c = 'a' JOIN f ON f.p IS NOT DISTINCT FROM d.k

-- rewritten, kind 1: a CASE in a derived table that is read as a whole
SELECT f.id FROM (SELECT CASE WHEN d.k IS NULL THEN 0 ELSE d.k END AS q, e.z FROM e LEFT JOIN d ON e.z = d.n AND d.c = 'a') x JOIN f ON f.p = x.q

-- left alone, kind 1: a range over a left join
SELECT f.id FROM e LEFT JOIN d ON e.z = d.n AND d.c = 'a' JOIN f ON f.p BETWEEN coalesce(d.k, 0) AND coalesce(d.k, 0) + 1

-- left alone, kind 1: ifnull over a right join
SELECT f.id FROM d RIGHT JOIN e ON e.z = d.n AND d.c = 'a' JOIN f ON f.p = ifnull(d.k, 0)

-- left alone, kind 1: an IN list with the key and 0
SELECT f.id FROM e LEFT JOIN d ON e.z = d.n AND d.c = 'a' JOIN f ON f.p IN (d.k, 0)

-- left alone, kind 1: coalesce in an EXISTS
SELECT f.id FROM f WHERE EXISTS (SELECT 1 FROM e LEFT JOIN d ON e.z = d.n AND d.c = 'a' WHERE coalesce(d.k, 0) = f.p)

-- left alone, kind 1: nvl in the subquery of an IN
SELECT f.id FROM f WHERE f.p IN (SELECT nvl(d.k, 0) FROM e LEFT JOIN d ON e.z = d.n AND d.c = 'a')

-- left alone, kind 1: a lateral left join
SELECT f.id FROM e LEFT JOIN LATERAL (SELECT k, c FROM d WHERE d.n = e.z AND d.c = 'a') q ON true JOIN f ON f.p = coalesce(q.k, 0)

-- left alone, kind 1: equal_null
SELECT f.id FROM e LEFT JOIN d ON e.z = d.n AND d.c = 'a' JOIN f ON equal_null(f.p, d.k)

-- left alone, kind 1: if asks whether the key is NULL
SELECT f.id FROM e LEFT JOIN d ON e.z = d.n AND d.c = 'a' JOIN f ON if(d.k IS NULL, f.p = 0, f.p = d.k)

-- rewritten, kind 1: coalesce of a rollup's key, read as a whole
SELECT f.id FROM (SELECT coalesce(k, 0) AS q FROM d WHERE c = 'a' GROUP BY ROLLUP(k)) x JOIN f ON f.p = x.q

-- left alone, kind 1: concat_ws makes a text of NULL
SELECT fs.id FROM e LEFT JOIN ds ON e.c = ds.c AND ds.k = '1' JOIN fs ON fs.p = concat_ws('', ds.k)

-- rewritten, kind 1: an inner join
SELECT f.id FROM e JOIN d ON e.z = d.n JOIN f ON f.p = d.k WHERE d.c = 'a'

-- rewritten, kind 1: an equality that rejects NULL
SELECT f.id FROM e LEFT JOIN d ON e.z = d.n JOIN f ON f.p = d.k WHERE d.c = 'a'

-- rewritten, kind 1: abs, which may overflow
SELECT f.id FROM d LEFT JOIN e ON e.z = d.n JOIN f ON f.p = abs(d.k) WHERE d.c = 'a'

-- left alone, kind 1: abs, which may overflow for a row of d that has none of e
SELECT f.id FROM e LEFT JOIN d ON e.z = d.n JOIN f ON f.p = abs(d.k) WHERE d.c = 'a'

-- rewritten, kind 1: coalesce over an inner join
SELECT f.id FROM e JOIN d ON e.z = d.n JOIN f ON f.p = coalesce(d.k, 0) WHERE d.c = 'a'

-- rewritten, kind 2: an aggregate alone
SELECT q.n FROM (SELECT count(*) AS n FROM f JOIN d ON f.p = d.k WHERE d.c = 'nope' GROUP BY ALL) q

-- rewritten, kind 2: with a literal
SELECT 1 AS one, q.* FROM (SELECT max(f.v) AS m, 'x' AS l FROM f JOIN d ON f.p = d.k AND d.c = 'nope' GROUP BY ALL) q

-- rewritten, kind 2: in EXISTS
SELECT g.id FROM g WHERE EXISTS (SELECT sum(f.v) FROM f WHERE f.p = g.p GROUP BY ALL)

-- left alone, kind 2: its result is the key
SELECT q.n, d.c FROM (SELECT count(*) n, max(p) AS p FROM f GROUP BY ALL) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, kind 2: comments between its words
SELECT q.n, d.c FROM (SELECT count(*) n, max(p) AS p FROM f GROUP /* by what */ BY -- nothing
 ALL) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 2: with HAVING
SELECT count(*) + 1 AS n FROM f JOIN d ON f.p = d.k AND d.c = 'nope' GROUP BY ALL HAVING count(*) = 0

-- rewritten, kind 2: below a UNION
SELECT count(*) AS n FROM f JOIN d ON f.p = d.k AND d.c = 'nope' GROUP BY ALL UNION ALL SELECT v FROM f

-- left alone, kind 2: GROUPING SETS (())
SELECT q.n FROM (SELECT count(*) AS n, min(p) AS p FROM f GROUP BY GROUPING SETS (())) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 2: in a scalar subquery
SELECT d.c, (SELECT count(*) FROM f WHERE f.p = d.k GROUP BY ALL) AS n FROM d WHERE d.c = 'a'

-- left alone, kind 2: to the right of a left join
SELECT d.c, q.n FROM d LEFT JOIN (SELECT count(*) AS n, max(p) AS p FROM f GROUP BY ALL) q ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 2: with a key
SELECT q.p, q.n, d.c FROM (SELECT p, count(*) n FROM f GROUP BY ALL) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 2: with a key, at the top
SELECT f.p, sum(f.v) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' GROUP BY ALL

-- left alone, kind 3: sum of sum
SELECT q.s FROM (SELECT sum(sum(v)) OVER () AS s, max(p) AS p FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, kind 3: rank by count
SELECT q.r FROM (SELECT rank() OVER (ORDER BY count(*)) AS r, max(p) AS p FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, kind 3: PARTITION BY an aggregate
SELECT q.r FROM (SELECT count(1) OVER (PARTITION BY max(p)) AS r, max(p) AS p FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, kind 3: in a named window
SELECT q.r FROM (SELECT row_number() OVER w AS r, min(p) AS p FROM f WINDOW w AS (ORDER BY sum(v))) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 3: lag of count
SELECT lag(count(*)) OVER (ORDER BY 1) AS l, count(*) AS n FROM f JOIN d ON f.p = d.k AND d.c = 'nope'

-- left alone, kind 3: in a CASE
SELECT q.r FROM (SELECT CASE WHEN sum(count(*)) OVER () > 0 THEN 1 ELSE 0 END AS r, max(p) p FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, kind 3: with a frame
SELECT q.r FROM (SELECT nth_value(max(v), 1) OVER (ORDER BY max(v) ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS r, max(p) p FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 3: in EXISTS
SELECT g.id FROM g WHERE EXISTS (SELECT sum(sum(f.v)) OVER () FROM f WHERE f.p = g.p)

-- rewritten, kind 3: with FILTER
SELECT sum(count(*) FILTER (WHERE d.b)) OVER () AS s FROM f JOIN d ON f.p = d.k AND d.c = 'nope'

-- rewritten, kind 3: ntile by max
SELECT ntile(2) OVER (ORDER BY max(f.v)) AS s FROM f JOIN d ON f.p = d.k AND d.c = 'nope'

-- left alone, kind 3: PARTITION BY another column
SELECT q.id, q.r FROM (SELECT id, p, row_number() OVER (PARTITION BY t ORDER BY id) r FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 3: PARTITION BY the partition column
SELECT q.id, q.r FROM (SELECT id, p, row_number() OVER (PARTITION BY p, t ORDER BY id) r FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 3: with GROUP BY
SELECT f.p, sum(sum(f.v)) OVER (PARTITION BY f.p) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' GROUP BY f.p

-- rewritten, kind 4: any_value
SELECT any_value(f.v) AS a FROM f JOIN d ON f.p = d.k AND d.c = 'nope'

-- rewritten, kind 4: approx_top_k
SELECT approx_top_k(f.v) IS NULL AS a FROM f JOIN d ON f.p = d.k AND d.c = 'nope'

-- rewritten, kind 4: listagg WITHIN GROUP
SELECT listagg(f.t, ',') WITHIN GROUP (ORDER BY f.t) AS a FROM f JOIN d ON f.p = d.k AND d.c = 'nope'

-- left alone, kind 4: string_agg
SELECT q.a FROM (SELECT string_agg(t) AS a, max(p) AS p FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, kind 4: regr_count
SELECT q.a FROM (SELECT regr_count(v, id) AS a, 1 AS p FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, kind 4: every and max_by
SELECT q.a, q.p FROM (SELECT every(v > 1) AS a, max_by(p, v) AS p FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 4: count_if in HAVING
SELECT 1 AS x FROM f JOIN d ON f.p = d.k AND d.c = 'nope' HAVING count_if(f.v > 0) = 0

-- rewritten, kind 4: try_sum
SELECT try_sum(f.v) AS s FROM f JOIN d ON f.p = d.k AND d.c = 'nope'

-- rewritten, kind 4: behind builtin.
SELECT builtin.count_if(true) AS s FROM f JOIN d ON f.p = d.k AND d.c = 'nope'

-- rewritten, kind 4: inside size()
SELECT size(array_agg(f.v)) AS s FROM f JOIN d ON f.p = d.k AND d.c = 'nope'

-- rewritten, kind 4: sketches
SELECT hll_sketch_estimate(hll_sketch_agg(f.v)) AS s FROM f JOIN d ON f.p = d.k AND d.c = 'nope'

-- left alone, kind 4: mode as the key
SELECT q.m FROM (SELECT mode(p) AS m FROM f) q JOIN d ON q.m = d.k WHERE d.c = 'a'

-- left alone, kind 4: percentile_disc
SELECT q.m FROM (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY p) AS m FROM f) q JOIN d ON q.m = d.k WHERE d.c = 'a'

-- rewritten, kind 4: with GROUP BY
SELECT f.t, bool_or(f.v > 1), max_by(f.v, f.id) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' GROUP BY f.t

-- rewritten, kind 4: exists, a function of an array
SELECT f.id, any_match FROM (SELECT f.id, exists(array(f.v), x -> x > 1) AS any_match, f.p FROM f) f JOIN d ON f.p = d.k WHERE d.c = 'a'

-- rewritten, kind 4: a global sum above the join
SELECT sum(f.v) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'

-- rewritten, kind 5: IDENTIFIER in a scalar subquery
WITH c AS (SELECT id, v, p FROM f) SELECT (SELECT count(*) FROM IDENTIFIER('c')) AS n, c.id FROM c JOIN d ON c.p = d.k WHERE d.c = 'a'

-- rewritten, kind 5: TABLE c
WITH c AS (SELECT id, v, p FROM f) SELECT c.id FROM c JOIN d ON c.p = d.k WHERE d.c = 'a' UNION ALL SELECT id FROM (TABLE c)

-- rewritten, kind 5: a second CTE over it
WITH c AS (SELECT id, v, p FROM f), c2 AS (SELECT * FROM c) SELECT c.id, (SELECT max(id) FROM c2) m FROM c JOIN d ON c.p = d.k WHERE d.c = 'a'

-- rewritten, kind 5: in backquotes
WITH `C` AS (SELECT id, v, p FROM f) SELECT c.id FROM c JOIN d ON c.p = d.k WHERE d.c = 'a' AND EXISTS (SELECT 1 FROM `c` x WHERE x.id > 6)

-- rewritten, kind 5: IDENTIFIER of a concatenation
WITH c AS (SELECT id, v, p FROM f) SELECT c.id FROM c JOIN d ON c.p = d.k WHERE d.c = 'a' AND (SELECT count(*) FROM IDENTIFIER('' || 'c')) = 8

-- rewritten, kind 5: in a LATERAL subquery
WITH c AS (SELECT id, v, p FROM f) SELECT c.id, l.m FROM c JOIN d ON c.p = d.k JOIN LATERAL (SELECT max(id) m FROM c) l WHERE d.c = 'a'

-- rewritten, kind 5: self join
WITH c AS (SELECT id, v, p FROM f) SELECT a.id, b.id FROM c a JOIN c b ON a.id = b.id + 1 JOIN d ON a.p = d.k WHERE d.c = 'a'

-- rewritten, kind 5: in an IN of its own
WITH c AS (SELECT id, v, p FROM f) SELECT c.id FROM c JOIN d ON c.p = d.k WHERE d.c = 'a' AND c.id IN (SELECT id FROM c WHERE v > 20)

-- rewritten, kind 5: in an inner WITH
WITH c AS (SELECT id, v, p FROM f) SELECT * FROM (WITH x AS (SELECT * FROM c) SELECT c.id, (SELECT count(*) FROM x) n FROM c JOIN d ON c.p = d.k WHERE d.c = 'a')

-- left alone, kind 5: recursive
WITH RECURSIVE c AS (SELECT p, 1 AS lv FROM f UNION ALL SELECT p + 1, lv + 1 FROM c WHERE lv < 2) SELECT c.p, c.lv FROM c JOIN d ON c.p = d.k WHERE d.c = 'b'

-- rewritten, kind 5: in parentheses
WITH c AS (SELECT id, v, p FROM f) SELECT c.id FROM (c) JOIN d ON c.p = d.k CROSS JOIN (SELECT count(*) n FROM (c)) q WHERE d.c = 'a' AND q.n = 8

-- rewritten, kind 5: once
WITH c AS (SELECT id, v, p FROM f) SELECT c.id FROM c JOIN d ON c.p = d.k WHERE d.c = 'a'

-- rewritten, kind 5: its name again in an inner WITH
WITH c AS (SELECT id, v, p FROM f) SELECT c.id FROM c JOIN d ON c.p = d.k WHERE d.c = 'a' AND d.k IN (SELECT c.k FROM (WITH c AS (SELECT k FROM e) SELECT k FROM c) c)

-- left alone, kind 6: STRING against INT
SELECT fs.id FROM fs JOIN d ON fs.p = d.k WHERE d.c = 'a'

-- left alone, kind 6: a union of INT and a number
SELECT fs.id FROM fs JOIN (SELECT k FROM d WHERE c = 'a' UNION ALL SELECT 1) q ON fs.p = q.k

-- rewritten, kind 6: INT against STRING
SELECT f.id FROM f JOIN ds ON f.p = ds.k WHERE ds.c = 'a'

-- left alone, kind 6: COLLATE in the join
SELECT fs.id FROM fs JOIN ds ON fs.p = ds.k COLLATE UTF8_LCASE WHERE ds.c = 'a'

-- left alone, kind 6: CHAR against STRING
SELECT fs.id FROM fs JOIN ds ON fs.p = ds.h WHERE ds.c = 'a'

-- rewritten, kind 6: DATE against TIMESTAMP
SELECT fd.id FROM fd JOIN dd ON fd.p = dd.ts WHERE dd.c = 'a'

-- rewritten, kind 6: TIMESTAMP against DATE
SELECT ft.id FROM ft JOIN dd ON ft.p = dd.k WHERE dd.c = 'a'

-- rewritten, kind 6: STRING against DATE
SELECT fs.id FROM fs JOIN dd ON fs.p = dd.k WHERE dd.c = 'a'

-- left alone, kind 6: DECIMAL against DOUBLE
SELECT fc.id FROM fc JOIN dn ON fc.p = dn.x WHERE dn.c = 'a'

-- rewritten, kind 6: DECIMALs of two scales
SELECT fc.id FROM fc JOIN dn ON fc.p = dn.k WHERE dn.c = 'a'

-- left alone, kind 6: STRING against BOOLEAN
SELECT fs.id FROM fs JOIN d ON fs.p = d.b WHERE d.c = 'a'

-- left alone, kind 6: INT against DOUBLE
SELECT f.id FROM f JOIN dn ON f.p = dn.x WHERE dn.c = 'a'

-- rewritten, kind 6: INT against BIGINT
SELECT f.id FROM f JOIN d ON f.p = CAST(d.k AS BIGINT) WHERE d.c = 'a'

-- left alone, kind 6: a CASE of two types
SELECT fs.id FROM fs JOIN (SELECT CASE WHEN b THEN c ELSE 1 END AS k, c FROM d) q ON fs.p = q.k WHERE q.c = 'a'

-- left alone, kind 6: coalesce of two types
SELECT fs.id FROM fs JOIN (SELECT coalesce(k, 'x') AS k, c FROM d) q ON fs.p = q.k WHERE q.c = 'a'

-- left alone, kind 6: if of two types
SELECT fs.id FROM fs JOIN (SELECT if(b, k, '01') AS k, c FROM d) q ON fs.p = q.k WHERE q.c = 'a'

-- left alone, kind 6: an IN of the author's own
SELECT fs.id FROM fs WHERE fs.p IN (SELECT d.k FROM d JOIN e ON d.k = e.k WHERE d.c = 'a')

-- left alone, kind 6: STRING against BINARY
SELECT fs.id FROM fs JOIN (SELECT CAST(k AS BINARY) k, c FROM ds) q ON fs.p = q.k WHERE q.c = 'a'

-- left alone, kind 6: a cast of VARIANT
SELECT f.id FROM f JOIN (SELECT parse_json('1')::INT AS k, c FROM d) q ON f.p = q.k WHERE q.c = 'a'

-- rewritten, kind 6: STRING against STRING
SELECT fs.id FROM fs JOIN ds ON fs.p = ds.k WHERE ds.c = 'a'

-- rewritten, kind 6: DATE against DATE
SELECT fd.id FROM fd JOIN dd ON fd.p = dd.k WHERE dd.c = 'a'

-- rewritten, kind 6: a cast to DATE
SELECT fd.id FROM fd JOIN dd ON fd.p = CAST(dd.ts AS DATE) WHERE dd.c = 'a'

-- left alone, kind 6: COLLATE UTF8_BINARY
SELECT fs.id FROM fs JOIN ds ON fs.p = ds.k COLLATE UTF8_BINARY WHERE ds.c = 'a'

-- rewritten, kind 7: k of the outer query in an IN
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' AND d.k IN (SELECT k FROM f)

-- rewritten, kind 7: a name without its table in EXISTS
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE EXISTS (SELECT 1 FROM e WHERE z = n AND e.c = 'a')

-- left alone, kind 7: a field of a struct
SELECT fc.id FROM fc JOIN d ON fc.s.k = d.k WHERE d.c = 'a'

-- rewritten, kind 7: a struct named as a table
SELECT x.id FROM (SELECT id, p, s AS d FROM fc) x JOIN e ON x.p = e.k WHERE d.k = 1

-- rewritten, kind 7: each table under the other's name
SELECT d.id FROM f d JOIN d f ON d.p = f.k WHERE f.c = 'a'

-- rewritten, kind 7: one alias inside and outside
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = (SELECT max(d.c) FROM e d WHERE d.k = f.id)

-- rewritten, kind 7: in LATERAL
SELECT f.id, q.m FROM f JOIN d ON f.p = d.k JOIN LATERAL (SELECT max(z) AS m FROM e WHERE e.k = n) q WHERE d.c = 'a' AND q.m > 0

-- rewritten, kind 7: in a correlated NOT IN
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.n NOT IN (SELECT z FROM e WHERE k = v)

-- rewritten, kind 7: a column current_date
SELECT q.id FROM (SELECT id, p, v AS current_date FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a' AND current_date > 1

-- rewritten, kind 7: only outer columns
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' AND f.v IN (SELECT d.n * 10 FROM e)

-- rewritten, kind 7: the dimension's ON refers outwards
SELECT (SELECT count(*) FROM f JOIN d ON f.p = d.k AND d.n = e.z) AS n FROM e

-- rewritten, kind 7: a WHERE refers outwards
SELECT e.k, (SELECT sum(f.v) FROM f JOIN (SELECT k, c FROM d WHERE d.n > 0) x ON f.p = x.k WHERE x.c = e.c) FROM e

-- rewritten, kind 7: all names with their tables
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c IN (SELECT e.c FROM e WHERE e.z > 2)

-- rewritten, kind 7: under aliases
SELECT x.id FROM f AS x JOIN d AS y ON x.p = y.k WHERE y.c = 'a'

-- left alone, kind 8: WITH ROLLUP
SELECT q.p, q.n FROM (SELECT p, count(*) n FROM f GROUP BY p WITH ROLLUP) q LEFT JOIN d ON q.p = d.k AND d.c = 'a'

-- left alone, kind 8: CUBE below an inner join
SELECT q.t, q.n FROM (SELECT t, p, count(*) n FROM f GROUP BY CUBE(t, p)) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, kind 8: <=> above GROUPING SETS
SELECT q.n FROM (SELECT p, count(*) n FROM f GROUP BY GROUPING SETS ((p), ())) q JOIN d ON q.p <=> d.k WHERE d.c = 'a'

-- left alone, kind 8: a key beside ROLLUP
SELECT q.n, q.t FROM (SELECT p, t, count(*) n FROM f GROUP BY p, ROLLUP(t)) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, kind 8: grouping_id
SELECT q.n, q.g FROM (SELECT p, grouping_id() g, count(*) n FROM f GROUP BY ROLLUP(p)) q JOIN d ON coalesce(q.p, 1) = d.k WHERE d.c = 'a'

-- left alone, kind 8: nested sets
SELECT q.n FROM (SELECT p, t, count(*) n FROM f GROUP BY GROUPING SETS (ROLLUP(p, t), CUBE(t))) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, kind 8: HAVING refers outwards
SELECT d.k FROM d WHERE EXISTS (SELECT 1 FROM f GROUP BY ROLLUP(p) HAVING count(*) = d.n) AND d.c = 'a'

-- left alone, kind 8: HAVING with the key and <=>
SELECT d.k FROM d WHERE EXISTS (SELECT 1 FROM f GROUP BY CUBE(p) HAVING p <=> d.k) AND d.c = 'a'

-- left alone, kind 8: in a scalar subquery
SELECT d.k, (SELECT max(n) FROM (SELECT p, count(*) n FROM f GROUP BY p WITH CUBE) x WHERE x.p IS NULL) m FROM d WHERE d.c = 'a'

-- left alone, kind 8: in Hive's order
SELECT q.n FROM (SELECT p, count(*) n FROM f GROUP BY p GROUPING SETS ((p), ())) q JOIN d ON ifnull(q.p, 2) = d.k WHERE d.c = 'a'

-- left alone, kind 8: two ROLLUPs
SELECT q.n FROM (SELECT p, t, count(*) n FROM f GROUP BY ROLLUP(p), ROLLUP(t)) q JOIN d ON q.p = d.k WHERE d.c = 'b'

-- left alone, kind 8: in an IN
SELECT d.k FROM d WHERE d.n IN (SELECT count(*) FROM f GROUP BY ROLLUP(p)) AND d.c = 'a'

-- left alone, kind 8: by number
SELECT q.n FROM (SELECT p, count(*) n FROM f GROUP BY ROLLUP(1)) q JOIN d ON q.p <=> d.k WHERE d.c = 'a'

-- rewritten, kind 8: above the join
SELECT d.c, f.p, count(*) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' GROUP BY d.c, f.p WITH ROLLUP

-- rewritten, kind 8: GROUP BY alone
SELECT q.n FROM (SELECT p, count(*) n FROM f GROUP BY p) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 8: ROLLUP of another column
SELECT f.t, count(*) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' GROUP BY ROLLUP(f.t)

-- left alone, kind 9: NATURAL behind a comma
SELECT f.id FROM g, f NATURAL JOIN (SELECT k AS p, c FROM d) x WHERE x.c = 'a' AND g.id = 1

-- rewritten, kind 9: USING behind a left join
SELECT k, f.id FROM e LEFT JOIN d USING (k) JOIN (SELECT id, p AS k FROM f) f USING (k) WHERE d.c = 'a' OR e.z > 0

-- left alone, kind 9: a chain of full joins
SELECT k FROM d FULL JOIN e USING (k) FULL JOIN (SELECT p AS k, id FROM f) f USING (k) WHERE d.c = 'a'

-- rewritten, kind 9: USING of a right join
SELECT k, id FROM (SELECT id, p AS k FROM f) f RIGHT JOIN d USING (k) WHERE d.c = 'a'

-- rewritten, kind 9: ON behind a comma
SELECT f.id, g.id FROM f, g JOIN d ON g.p = d.k WHERE f.p = d.n AND d.c = 'a'

-- rewritten, kind 9: NATURAL of three columns
SELECT f.id FROM f NATURAL JOIN g JOIN d ON f.p = d.k WHERE d.c = 'a'

-- left alone, kind 9: NATURAL FULL
SELECT count(*) FROM (SELECT p, id FROM f) NATURAL FULL JOIN (SELECT p, v FROM g) JOIN d ON p = d.k WHERE d.c = 'a'

-- rewritten, kind 9: the hidden column in a later ON
SELECT f.id FROM f LEFT JOIN g USING (p) JOIN d ON g.p = d.k WHERE d.c = 'a'

-- rewritten, kind 9: the shown column in a later ON
SELECT f.id, p FROM f RIGHT JOIN g USING (p) JOIN d ON p = d.k WHERE d.c = 'a'

-- rewritten, kind 9: USING of a semi-join
SELECT f.id FROM f LEFT SEMI JOIN g USING (p) JOIN d ON f.p = d.k WHERE d.c = 'a'

-- rewritten, kind 9: USING of an anti-join
SELECT f.id FROM f LEFT ANTI JOIN g USING (p) JOIN d ON f.p = d.k WHERE d.c = 'a'

-- rewritten, kind 9: NATURAL behind a cross join
SELECT f.id FROM f CROSS JOIN e NATURAL JOIN d WHERE f.p = d.k AND d.c = 'a'

-- rewritten, kind 9: a join in parentheses
SELECT f.id FROM f LEFT JOIN (d JOIN e USING (k)) ON f.p = d.k WHERE d.c = 'a'

-- left alone, kind 9: a left join with USING behind a comma
SELECT f.id FROM e, d LEFT JOIN (SELECT id, p AS k FROM f) f USING (k) WHERE d.c = 'a' AND e.k = d.k

-- rewritten, kind 9: USING
SELECT f.id, k FROM (SELECT id, p AS k FROM f) f JOIN d USING (k) WHERE d.c = 'a'

-- rewritten, kind 9: commas
SELECT f.id FROM f, d, e WHERE f.p = d.k AND d.n = e.z AND d.c = 'a'

-- rewritten, kind 10: a star over USING in a UNION
SELECT * FROM (SELECT id, p AS k FROM f) f JOIN d USING (k) WHERE d.c = 'a' UNION ALL SELECT k, 0, c, n, b FROM d

-- rewritten, kind 10: a star over NATURAL, renamed
SELECT q.a FROM (SELECT * FROM (SELECT v, p AS k FROM f) NATURAL JOIN e) q(a, b, x, y) JOIN d ON q.a = d.k WHERE d.c = 'a'

-- rewritten, kind 10: a star over a semi-join, renamed
SELECT q.* FROM (SELECT * FROM f LEFT SEMI JOIN g ON f.id = g.id) q(i, v, t, p) JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 10: t.* over a right join with USING
SELECT q.c1 FROM (SELECT f.* FROM (SELECT id, p AS k FROM f) f RIGHT JOIN e USING (k)) q(c0, c1) JOIN d ON q.c1 = d.k WHERE d.c = 'a'

-- left alone, kind 10: a star over a full join
SELECT q.a FROM (SELECT * FROM (SELECT p AS k, id FROM f) FULL JOIN e USING (k)) q(a, b, x, y) JOIN d ON q.a = d.k WHERE d.c = 'a'

-- rewritten, kind 10: EXCEPT
SELECT q.x FROM (SELECT * EXCEPT (t) FROM f) q(i, v, x) JOIN d ON q.x = d.k WHERE d.c = 'a'

-- rewritten, kind 10: a UNION of columns in two orders
SELECT q.a FROM (SELECT p, v FROM f UNION ALL SELECT v, p FROM g) q(a, b) JOIN d ON q.a = d.k WHERE d.c = 'a'

-- rewritten, kind 10: a star in the second branch
SELECT q.k FROM (SELECT k, id, z, c FROM (SELECT id, p AS k FROM f) f JOIN e USING (k) UNION ALL SELECT * FROM (SELECT id, p AS k FROM f) f JOIN e USING (k)) q JOIN d ON q.k = d.k WHERE d.c = 'a'

-- left alone, kind 10: the star of a struct
SELECT q.k FROM (SELECT s.*, p FROM fc) q JOIN d ON q.k = d.k WHERE d.c = 'a'

-- rewritten, kind 10: a star over LATERAL VIEW
SELECT q.y FROM (SELECT * FROM f LATERAL VIEW explode(array(1, 2)) x AS e) q(a, b, c, x, y) JOIN d ON q.x = d.k WHERE d.c = 'a'

-- left alone, kind 10: a star over PIVOT
SELECT q.* FROM (SELECT * FROM (SELECT p, t, v FROM f) PIVOT (sum(v) FOR t IN ('a', 'b'))) q(x, a, b) JOIN d ON q.x = d.k WHERE d.c = 'a'

-- rewritten, kind 10: a star twice
SELECT q.a FROM (SELECT f.*, f.* FROM (SELECT p FROM f) f) q(a, b) JOIN d ON q.b = d.k WHERE d.c = 'a'

-- rewritten, kind 10: a star over two tables
SELECT q.x4 FROM (SELECT * FROM e, f) q(x0, x1, x2, x3, x4, x5, x6) JOIN d ON q.x6 = d.k WHERE d.c = 'a'

-- rewritten, kind 10: a star of a table
SELECT q.* FROM (SELECT * FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, kind 10: renamed columns
SELECT q.d FROM (SELECT * FROM f) q(a, b, c, d) JOIN d ON q.d = d.k WHERE d.c = 'a'

-- rewritten, kind 11: a comment in a comment hides the WHERE
SELECT f.id FROM f JOIN d ON f.p = d.k /* /* x */ WHERE d.c = 'a' */

-- left alone, kind 11: a line comment goes on
SELECT f.id FROM f JOIN d ON f.p = d.k -- x \
 AND d.c = 'a'

-- rewritten, kind 11: adjacent literals
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' 'b' OR d.c = 'a'

-- rewritten, kind 11: raw string quote
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' AND f.t <> r'\' AND 'x' = r'x'

-- rewritten, kind 11: spaces beyond ASCII
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'

-- rewritten, kind 11: doubled quote in where
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' AND f.t <> 'it''s -- not'

-- rewritten, kind 11: slash star in string
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' AND f.t <> '/*' AND f.t <> '*/'

-- rewritten, kind 11: dashes in name
SELECT `f--`.id FROM f AS `f--` JOIN d ON `f--`.p = d.k WHERE d.c = 'a'

-- rewritten, kind 11: a comment in a hint
SELECT /*+ BROADCAST(d) /* x */ */ f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'

-- rewritten, kind 11: comment at end no newline
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' -- end

-- rewritten, kind 11: block at end
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' /* end */

-- rewritten, kind 11: comment before and
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' -- or d.c = 'b'
OR d.n = 3

-- rewritten, kind 11: escaped quote
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' AND f.t <> 'a\' OR 1 = 1 --'

-- rewritten, kind 11: double-quoted string with single
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = "a" AND f.t <> "it's"

-- rewritten, kind 11: backtick doubled
SELECT `f``x`.id FROM f `f``x` JOIN d ON `f``x`.p = d.k WHERE d.c = 'a'

-- rewritten, kind 11: a comment behind a slash
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.n / /* two */ 2 > 0 AND d.c = 'a'

-- rewritten, kind 11: comments in GROUP BY and ORDER BY
SELECT f.p, count(*) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' GROUP /* a */ /* b */ -- c
 BY f.p ORDER --
 BY f.p

-- left alone, kind 11: comments in PARTITION BY
SELECT q.id FROM (SELECT id, p, row_number() OVER (PARTITION /* p */ BY t ORDER /* p */ BY id) r FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a' AND q.r = 1

-- rewritten, kind 11: comments in DISTRIBUTE BY and SORT BY
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' DISTRIBUTE /* x */ BY f.id SORT -- y
 BY f.id

-- rewritten, kind 11: comments behind NOT
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c NOT /* x */ IN ('b') AND d.c IS /* not */ NOT /* null */ NULL

-- rewritten, kind 11: comments for spaces
SELECT/**/f.id/**/FROM/**/f/**/JOIN/**/d/**/ON/**/f.p=d.k/**/WHERE/**/d.c='a'

-- rewritten, kind 11: second hint
SELECT /*+ BROADCAST(d) */ /*+ MERGE(f) */ f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'

-- rewritten, kind 11: number suffix
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.n < 1e1 AND d.n > 0.5BD AND d.c = 'a' AND d.n <> 2L

-- rewritten, kind 11: a line's end
SELECT f.id FROM f JOIN d ON f.p = d.k -- c
 WHERE d.c = 'a'

-- rewritten, kind 11: hint-like comment in tail
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' --+ hint

-- rewritten, kind 11: union comments
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' -- first
UNION ALL -- second
SELECT f.id FROM f JOIN d ON f.p = d.k /* no where */

-- left alone, kind 12: execute immediate
EXECUTE IMMEDIATE 'SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = ''a'''

-- left alone, kind 12: EXECUTE IMMEDIATE with USING
EXECUTE IMMEDIATE 'SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = ?' USING 'a'

-- rewritten, kind 12: BEGIN and END
BEGIN SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'; END

-- rewritten, kind 12: a variable named as a column
BEGIN DECLARE c STRING DEFAULT 'b'; SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = c; END

-- rewritten, kind 12: WHILE
BEGIN DECLARE i INT DEFAULT 1; WHILE i < 2 DO SET i = i + 1; END WHILE; SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.n = i; END

-- rewritten, kind 12: a variable in a derived table
BEGIN DECLARE n INT DEFAULT 3; SELECT f.id FROM f JOIN (SELECT k FROM d WHERE d.n = n) x ON f.p = x.k; END

-- rewritten, kind 12: FOR
BEGIN FOR r AS SELECT k FROM d WHERE c = 'a' DO SELECT f.id FROM f JOIN e ON f.p = e.k WHERE e.k = r.k; END FOR; END

-- rewritten, kind 12: IF
BEGIN IF (SELECT count(*) FROM d) > 1 THEN SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'; END IF; END

-- rewritten, kind 12: a handler
BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN SELECT 1 AS x; END; SELECT f.id FROM f JOIN d ON f.p = d.k WHERE CAST(d.c AS INT) = 1; END

-- left alone, kind 13: a generator's column named as the partition
SELECT q.id FROM (SELECT id, explode(array(p, 0)) AS p FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, kind 13: unpivot
SELECT u.x FROM (SELECT * FROM (SELECT id, v, p FROM f) UNPIVOT (x FOR nm IN (v, p))) u JOIN d ON u.x = d.k WHERE d.c = 'a'

-- left alone, kind 13: pivot keeps p
SELECT u.p FROM (SELECT * FROM (SELECT p, t, v FROM f) PIVOT (count(v) FOR t IN ('a' AS a))) u JOIN d ON u.p = d.k WHERE d.c = 'a'

-- left alone, kind 13: an alias named as the partition
SELECT q.x FROM (SELECT v AS p, p + 1 AS x, f.p AS y FROM f) q JOIN d ON q.x = d.k WHERE d.c = 'a'

-- left alone, kind 13: an alias of an alias
SELECT q.x FROM (SELECT id AS w, w AS x FROM g) q JOIN d ON q.x = d.k WHERE d.c = 'a'

-- left alone, kind 13: pipe set
FROM f |> SET p = v |> JOIN d ON p = d.k |> WHERE d.c = 'a'

-- left alone, kind 13: pipe extend
FROM f |> EXTEND v AS q |> JOIN d ON q = d.k |> WHERE d.c = 'a'

-- left alone, kind 13: pipe as
FROM f |> AS x |> JOIN d ON x.p = d.k |> WHERE d.c = 'a' |> SELECT x.id

-- left alone, kind 13: pipe aggregate then join
FROM f |> AGGREGATE count(*) AS n GROUP BY p |> JOIN d ON p = d.k |> WHERE d.c = 'a'

-- left alone, kind 13: pipe limit
FROM f |> LIMIT 3 |> JOIN d ON p = d.k |> WHERE d.c = 'a'

-- left alone, kind 13: pipe drop
FROM f |> DROP t |> JOIN d ON p = d.k |> WHERE d.c = 'a' |> SELECT id

-- left alone, kind 13: stack
SELECT q.a FROM (SELECT stack(2, p, 1, v, 2) AS (a, b) FROM f) q JOIN d ON q.a = d.k WHERE d.c = 'a'

-- left alone, kind 13: LATERAL inline
SELECT q.k FROM fc, LATERAL inline(array(s)) AS q(k, dd) JOIN d ON q.k = d.k WHERE d.c = 'a'

-- left alone, kind 13: explode in FROM
SELECT f.id FROM f, explode(array(1, 2)) AS x(p) JOIN d ON x.p = d.k WHERE d.c = 'a'

-- rewritten, kind 13: having alias
SELECT max(f.v) AS p, f.t FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' GROUP BY f.t HAVING p > 10

-- rewritten, kind 13: order by alias vs column
SELECT f.v AS p FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' ORDER BY p LIMIT 2

-- rewritten, kind 13: pipe where
FROM f |> JOIN d ON f.p = d.k |> WHERE d.c = 'a' |> SELECT f.id

-- rewritten, kind 13: pivot
SELECT * FROM (SELECT f.t, d.c, f.v FROM f JOIN d ON f.p = d.k WHERE d.n > 0) PIVOT (sum(v) FOR t IN ('a', 'b'))

-- left alone, others: TABLESAMPLE in the dimension
SELECT f.id FROM f JOIN d TABLESAMPLE (100 PERCENT) ON f.p = d.k WHERE d.c = 'a'

-- left alone, others: rand in the dimension
SELECT f.id FROM f JOIN (SELECT k FROM d WHERE rand(1) < 2 AND c = 'a') x ON f.p = x.k

-- rewritten, others: LIMIT in the dimension
SELECT f.id FROM f JOIN (SELECT k FROM d WHERE c = 'a' ORDER BY n LIMIT 1) x ON f.p = x.k

-- left alone, others: limit above fact
SELECT q.id FROM (SELECT id, p FROM f ORDER BY id LIMIT 3) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, others: not in
SELECT f.id FROM f WHERE f.p NOT IN (SELECT d.k FROM d WHERE d.c = 'z' AND d.k IS NOT NULL)

-- left alone, others: OR in the join
SELECT f.id FROM f JOIN d ON f.p = d.k OR f.v = d.n WHERE d.c = 'a'

-- rewritten, others: except
SELECT q.p FROM (SELECT p FROM f EXCEPT SELECT p FROM g) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, others: intersect all
SELECT q.p FROM (SELECT p FROM f INTERSECT ALL SELECT p FROM g) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- rewritten, others: DISTINCT
SELECT q.p FROM (SELECT DISTINCT p FROM f) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, others: GROUP BY another column
SELECT q.p FROM (SELECT t, max(p) AS p FROM f GROUP BY t) q JOIN d ON q.p = d.k WHERE d.c = 'a'

-- left alone, others: IN as a value
SELECT f.id, f.p IN (SELECT k FROM d WHERE c = 'a') AS m FROM f

-- left alone, others: EXISTS below OR
SELECT f.id FROM f WHERE f.v > 60 OR EXISTS (SELECT 1 FROM d WHERE d.k = f.p AND d.c = 'a')

-- rewritten, others: division guard
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.n <> 0 AND 10 / d.n > 1

-- rewritten, others: cast guard
SELECT f.id FROM f JOIN ds ON f.p = CAST(ds.k AS INT) WHERE ds.k RLIKE '^[0-9]+$'

-- left alone, others: case key division
SELECT f.id FROM f JOIN d ON f.p = CASE WHEN d.n = 0 THEN 0 ELSE 10 / d.n END WHERE d.c = 'a'

-- rewritten, others: assert_true
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' AND assert_true(d.n < 5) IS NULL

-- rewritten, others: an element that may be missing
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE array(1, 2)[d.n] = 2

-- rewritten, others: an error in what is not the key
SELECT f.id, x.y FROM f JOIN (SELECT k, 1 / n AS y FROM d WHERE n <> 0) x ON f.p = x.k

-- rewritten, others: HAVING in the dimension
SELECT f.id FROM f JOIN (SELECT k FROM d GROUP BY k HAVING count(*) > 1) x ON f.p = x.k

-- rewritten, others: a CASE of two types in a condition
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE CASE WHEN d.n > 4 THEN 'x' ELSE d.n END = 1

-- rewritten, others: coalesce of two types in a condition
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE coalesce(d.n, 'x') = 1

-- rewritten, others: pairs in an IN
SELECT f.id FROM f JOIN d ON f.p = d.k WHERE (d.n, d.c) IN ((1, 'a'), (0, 'a'))

-- rewritten, others: extract
SELECT fd.id FROM fd JOIN dd ON fd.p = dd.k WHERE extract(DAY FROM dd.k) = 1 AND extract(YEAR FROM dd.ts) = 2024

-- rewritten, others: a key moved by a day
SELECT fd.id FROM fd JOIN dd ON fd.p = dd.k - INTERVAL 1 DAY WHERE dd.c = 'a'

-- rewritten, others: a key moved by a month
SELECT fd.id FROM fd JOIN dd ON fd.p = add_months(dd.k, 1) WHERE dd.c = 'a'
