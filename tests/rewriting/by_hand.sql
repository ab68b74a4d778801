-- # chains, outer joins, names, unions, tuples and ranges

-- neighbour over left join, filter on null-extended side in WHERE
SELECT f.* FROM sales f JOIN dates d ON f.day = d.day LEFT JOIN promos p ON d.dk = p.dk WHERE p.rate = 2;

-- neighbour over left join, filter in ON only
SELECT f.* FROM sales f JOIN dates d ON f.day = d.day LEFT JOIN stores p ON d.dk = p.sk AND p.size = 2;

-- neighbour over left join, is null
SELECT f.* FROM sales f JOIN dates d ON f.day = d.day LEFT JOIN stores p ON d.dk = p.sk WHERE p.size IS NULL
OR p.size = 1;

-- right join neighbour: dimension null-extended
SELECT f.*, p.* FROM sales f JOIN dates d ON f.day = d.day RIGHT JOIN stores p ON d.dk = p.sk WHERE p.size = 2;

-- fact null-extended, neighbour beyond
SELECT d.*, f.id, s.sk FROM dates d JOIN stores s ON s.sk = d.dk LEFT JOIN sales f ON f.day = d.day WHERE
s.size = 2;

-- neighbour joined to null-extended fact side
SELECT d.*, f.id FROM dates d LEFT JOIN (sales f JOIN stores s ON s.sk = f.qty) ON f.day = d.day WHERE d.yr =
2;

-- full join neighbour
SELECT f.id, d.dk, s.sk FROM sales f JOIN dates d ON f.day = d.day FULL JOIN stores s ON s.sk = d.dk WHERE
s.size > 1;

-- neighbour derived with LIMIT
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN (SELECT sk, size FROM stores ORDER BY sk, size,
city, grp LIMIT 2) s ON s.sk = d.dk WHERE s.size > 0;

-- neighbour derived with aggregate HAVING
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN (SELECT grp, count(*) n FROM stores GROUP BY grp
HAVING count(*) > 1) s ON s.grp = d.dk;

-- neighbour global aggregate derived
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN (SELECT max(sk) AS sk, count(*) n FROM stores
WHERE size > 2) s ON s.sk = d.dk WHERE s.n > 0;

-- neighbour with window inside
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN (SELECT sk, rank() OVER (ORDER BY size) rn FROM
stores) s ON s.sk = d.dk WHERE s.rn = 1;

-- window in the same block as the filter
SELECT f.id, rank() OVER (ORDER BY f.id) rk FROM sales f JOIN dates d ON f.day = d.day JOIN stores s ON s.sk =
d.dk WHERE s.size = 2;

-- dims window above, filter outside window
SELECT * FROM (SELECT f.id, s.size, count(*) OVER (PARTITION BY f.id) n FROM sales f JOIN dates d ON f.day =
d.day JOIN stores s ON s.sk = d.dk) q WHERE q.size = 2;

-- group by with having on dim
SELECT d.yr, count(*) FROM sales f JOIN dates d ON f.day = d.day GROUP BY d.yr HAVING d.yr = 2;

-- global aggregate over the chain
SELECT count(*) FROM sales f JOIN dates d ON f.day = d.day JOIN stores s ON s.sk = d.dk WHERE s.size = 2;

-- correlated exists between
SELECT d.dk FROM dates d WHERE EXISTS (SELECT 1 FROM sales f JOIN stores s ON s.sk = f.qty WHERE f.day = d.day
AND s.size = 2) AND d.yr = 1;

-- correlated NOT EXISTS chain
SELECT d.dk FROM dates d JOIN stores s ON s.sk = d.dk WHERE NOT EXISTS (SELECT 1 FROM sales f WHERE f.day =
d.day) AND s.size = 2;

-- not exists with inner chain
SELECT d.dk FROM dates d WHERE NOT EXISTS (SELECT 1 FROM sales f JOIN dates e ON f.day = e.day JOIN stores s
ON s.sk = e.dk WHERE s.size = 2 AND e.yr = d.yr);

-- NOT IN around
SELECT d.dk FROM dates d WHERE d.day NOT IN (SELECT f.day FROM sales f JOIN dates e ON f.day = e.day JOIN
stores s ON s.sk = e.dk WHERE s.size = 2);

-- NOT IN outer dims
SELECT d.dk FROM dates d JOIN stores s ON s.sk = d.dk WHERE s.size = 2 AND d.day NOT IN (SELECT f.day FROM
sales f);

-- scalar subquery correlated with neighbours
SELECT d.dk, (SELECT count(*) FROM sales f WHERE f.day = d.day) FROM dates d JOIN stores s ON s.sk = d.dk
WHERE s.size = 2;

-- shadowed CTE name of neighbour
WITH stores AS (SELECT sk, size, city FROM stores WHERE size > 2) SELECT f.id FROM sales f JOIN dates d ON
f.day = d.day JOIN stores s ON s.sk = d.dk WHERE s.city = 'a';

-- fact inside CTE before the neighbours' cte
WITH a AS (SELECT id, day FROM sales), stores AS (SELECT * FROM stores WHERE size = 1) SELECT a.id FROM a JOIN
dates d ON a.day = d.day JOIN stores s ON s.sk = d.dk WHERE s.city = 'a';

-- nested with shadowing at place
WITH dates AS (SELECT * FROM dates WHERE yr = 2) SELECT q.id FROM (WITH dates AS (SELECT * FROM dates WHERE
moy = 1) SELECT f.id, d.dk FROM sales f JOIN dates d ON f.day = d.day) q JOIN stores s ON s.sk = q.dk WHERE
s.size = 2;

-- shadowed dimension in subquery; fact inside it, dim outside
WITH x AS (SELECT day, dk FROM dates WHERE yr = 2) SELECT x.dk FROM x LEFT JOIN (WITH x AS (SELECT 1 AS day)
SELECT id, day FROM sales) f ON f.day = x.day;

-- recursive
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT f.id FROM returns f JOIN
r ON f.dk = r.n WHERE r.n > 2;

-- recursive neighbour
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT f.id FROM sales f JOIN
dates d ON f.day = d.day JOIN r ON d.dk = r.n WHERE r.n > 2;

-- union types: int with bigint
SELECT q.k FROM (SELECT dk AS k FROM returns UNION ALL SELECT lk FROM orders) q JOIN dates d ON q.k = d.dk
JOIN stores s ON s.sk = d.moy WHERE s.size = 2;

-- using columns through the chain
SELECT * FROM sales f JOIN dates d USING (day) JOIN promos p USING (day) WHERE p.rate = 2;

-- using left
SELECT * FROM dates d LEFT JOIN sales f USING (day) JOIN stores s ON s.sk = d.dk WHERE s.size = 2;

-- using full
SELECT * FROM dates d FULL JOIN sales f USING (day) WHERE day = DATE '2024-01-02' AND yr = 1;

-- tuple with null components
SELECT f.id FROM stock f JOIN dates d ON f.day = d.day AND f.dk = d.dk WHERE d.yr = 2;

-- tuple left join
SELECT d.dk, f.id FROM dates d LEFT JOIN stock f ON f.day = d.day AND f.dk = d.dk WHERE d.yr = 2;

-- tuple not exists
SELECT d.* FROM dates d WHERE d.yr = 2 AND NOT EXISTS (SELECT 1 FROM stock f WHERE f.day = d.day AND f.dk =
d.dk);

-- tuple not in
SELECT d.* FROM dates d WHERE d.yr = 2 AND (d.day, d.dk) NOT IN (SELECT day, dk FROM stock);

-- tuple IN
SELECT f.* FROM stock f WHERE (f.day, f.dk) IN (SELECT d.day, d.dk FROM dates d WHERE d.yr = 2);

-- tuple null-safe on one
SELECT f.id FROM stock f JOIN dates d ON f.day = d.day AND f.dk <=> d.dk WHERE d.yr = 2;

-- range over empty under left join
SELECT d.*, f.id FROM spans d LEFT JOIN returns f ON f.dk BETWEEN d.lo AND d.hi WHERE d.grp = 99;

-- range, fact preserved
SELECT f.*, d.lo FROM returns f LEFT JOIN spans d ON f.dk BETWEEN d.lo AND d.hi AND d.grp = 1;

-- range ties inside NOT EXISTS
SELECT d.* FROM spans d WHERE d.grp = 2 AND NOT EXISTS (SELECT 1 FROM returns f WHERE f.dk >= d.lo AND f.dk <
d.hi);

-- range fact outside NOT EXISTS
SELECT f.* FROM returns f WHERE NOT EXISTS (SELECT 1 FROM spans d WHERE f.dk BETWEEN d.lo AND d.hi AND d.grp =
2);

-- NOT BETWEEN
SELECT f.id FROM returns f JOIN spans d ON f.dk NOT BETWEEN d.lo AND d.hi WHERE d.grp = 2;

-- equal bounds
SELECT f.id FROM returns f JOIN spans d ON f.dk BETWEEN d.lo AND d.lo WHERE d.grp = 2;

-- between reversed: dim between facts
SELECT f.id FROM stock f JOIN dates d ON d.dk BETWEEN f.dk AND f.dk + 1 WHERE d.yr = 2;

-- between symmetrical with two facts columns
SELECT f.id FROM returns f JOIN spans d ON d.lo <= f.dk AND f.dk <= d.hi JOIN stores s ON s.grp = d.grp WHERE
s.size = 2;

-- full range join
SELECT f.id, d.lo FROM returns f FULL JOIN spans d ON f.dk BETWEEN d.lo AND d.hi WHERE d.grp = 2;

-- scalar count range
SELECT d.lo, (SELECT count(*) FROM returns f WHERE f.dk > d.lo) FROM spans d WHERE d.grp = 1;

-- any not over range
SELECT f.id FROM returns f JOIN spans d ON NOT (f.dk < d.lo) WHERE d.grp = 1;

-- # ORs, equality chains, shared CTEs, computed keys, views

-- guard in neighbours: division by zero in neighbour condition
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN stores s ON s.sk = d.dk WHERE s.size <> 1 AND 10 /
(s.size - 1) > 2;

-- or with errors per branch
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN stores s ON s.sk = d.dk WHERE (s.size = 1 AND
f.qty = 1) OR (s.size = 2 AND f.qty = 2);

-- OR over dimension and neighbour, per branch
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN stores s ON s.sk = d.dk WHERE (d.yr = 1 AND s.size
= 1) OR (d.yr = 2 AND s.size = 2);

-- OR in an outer join's ON
SELECT d.dk, f.id FROM dates d LEFT JOIN sales f ON f.day = d.day AND ((d.yr = 1 AND f.qty = 1) OR (d.yr = 2
AND f.qty = 3));

-- OR with nulls and outer join
SELECT f.id, d.dk FROM sales f LEFT JOIN dates d ON f.day = d.day WHERE (d.yr = 1 AND f.qty = 1) OR (d.yr = 2
AND f.qty = 3);

-- OR with one branch null-accepting
SELECT f.id, d.dk FROM sales f LEFT JOIN dates d ON f.day = d.day WHERE (d.yr = 1 AND f.qty = 1) OR (d.yr IS
NULL AND f.qty = 3);

-- NOT of OR
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day WHERE NOT (d.yr = 1 OR f.qty = 2);

-- NOT of AND
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day WHERE NOT (d.yr = 1 AND f.qty = 2);

-- equality under OR is no tie
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day OR f.qty = d.dk WHERE d.yr = 1;

-- equality chain over left join
SELECT f.id, g.id, d.dk FROM sales f LEFT JOIN stock g ON f.day = g.day JOIN dates d ON g.day = d.day WHERE
d.yr = 1;

-- chain: left join dimension to the middle
SELECT f.id, g.id, d.dk FROM sales f JOIN stock g ON f.day = g.day LEFT JOIN dates d ON g.day = d.day AND d.yr
= 1;

-- chain: first fact null extended
SELECT f.id, g.id, d.dk FROM stock g JOIN dates d ON g.day = d.day LEFT JOIN sales f ON f.day = g.day WHERE
d.yr = 1;

-- chain on constants
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN stores s ON d.dk = 2 AND s.sk = d.dk;

-- CTE shared: one in a NOT EXISTS
WITH c AS (SELECT d.yr AS w, count(*) AS n FROM sales f JOIN dates d ON f.day = d.day GROUP BY d.yr) SELECT
a.w, a.n FROM c a WHERE a.w = 1 AND NOT EXISTS (SELECT 1 FROM c b WHERE b.w = 2 AND b.n > a.n);

-- CTE shared: scalar without bound
WITH c AS (SELECT d.yr AS w, count(*) AS n FROM sales f JOIN dates d ON f.day = d.day GROUP BY d.yr) SELECT
a.w, (SELECT max(n) FROM c) FROM c a WHERE a.w = 1;

-- CTE shared: self left join, filter on preserved only
WITH c AS (SELECT d.yr AS w, count(*) AS n FROM sales f JOIN dates d ON f.day = d.day GROUP BY d.yr) SELECT
a.w, a.n, b.n FROM c a LEFT JOIN c b ON a.w = b.w + 1 WHERE a.w = 1;

-- CTE shared: left join with ON bound
WITH c AS (SELECT d.yr AS w, count(*) AS n FROM sales f JOIN dates d ON f.day = d.day GROUP BY d.yr) SELECT
a.w, a.n, b.n FROM c a LEFT JOIN c b ON a.w = b.w AND b.w = 1 WHERE a.w = 2;

-- CTE: filter on n, aggregate output
WITH c AS (SELECT d.yr AS w, count(*) AS n FROM sales f JOIN dates d ON f.day = d.day GROUP BY d.yr) SELECT *
FROM c a WHERE a.n = 1 UNION ALL SELECT * FROM c b WHERE b.w = 2;

-- CTE with max of group column
WITH c AS (SELECT max(d.yr) AS w, d.moy AS m, count(*) AS n FROM sales f JOIN dates d ON f.day = d.day GROUP
BY d.moy) SELECT * FROM c a WHERE a.w = 1 UNION ALL SELECT * FROM c b WHERE b.m = 2;

-- CTE rollup
WITH c AS (SELECT d.yr AS w, count(*) AS n FROM sales f JOIN dates d ON f.day = d.day GROUP BY ROLLUP(d.yr))
SELECT * FROM c a WHERE a.w = 1 UNION ALL SELECT * FROM c b WHERE b.w = 2;

-- CTE reference sorted & limited
WITH c AS (SELECT d.yr AS w, count(*) AS n FROM sales f JOIN dates d ON f.day = d.day GROUP BY d.yr) SELECT *
FROM (SELECT * FROM c a ORDER BY w, n LIMIT 2) x WHERE x.w = 2 UNION ALL SELECT * FROM c b WHERE b.w = 1;

-- CTE window over
WITH c AS (SELECT d.yr AS w, d.moy AS m, count(*) AS n FROM sales f JOIN dates d ON f.day = d.day GROUP BY
d.yr, d.moy) SELECT * FROM (SELECT w, rank() OVER (ORDER BY n) r FROM c) x WHERE x.w = 2 UNION ALL SELECT w, n
FROM c b WHERE b.w = 1;

-- CTE shared in INTERSECT / EXCEPT
WITH c AS (SELECT d.yr AS w, count(*) AS n FROM sales f JOIN dates d ON f.day = d.day GROUP BY d.yr) SELECT w
FROM c a WHERE a.w < 3 EXCEPT SELECT w FROM c b WHERE b.w = 2;

-- CTE with IN and joined filter
WITH c AS (SELECT d.yr AS w, count(*) AS n FROM sales f JOIN dates d ON f.day = d.day GROUP BY d.yr) SELECT
a.w FROM c a JOIN dates e ON a.w = e.yr WHERE e.moy = 1 UNION ALL SELECT b.w FROM c b WHERE b.w IN (SELECT sk
FROM stores WHERE size = 2);

-- CTE with count star join dup: dims joined one-many then limit
WITH c AS (SELECT d.yr AS w, f.id FROM sales f JOIN dates d ON f.day = d.day) SELECT x.w, y.id FROM c x, c y
WHERE x.w = y.w AND x.w = 2;

-- null-safe CTE join
WITH c AS (SELECT d.yr AS w, f.id FROM sales f JOIN dates d ON f.day = d.day) SELECT x.w, y.id FROM c x JOIN c
y ON x.w <=> y.w WHERE x.w = 2;

-- computed: coalesce over null-extended
SELECT d.dk, f.id FROM dates d LEFT JOIN sales f ON coalesce(f.day, DATE '2024-01-01') = d.day WHERE d.yr = 1;

-- computed: where over null-extended fact column coalesced
SELECT d.dk, f.id FROM stores s LEFT JOIN returns f ON f.qty = s.sk JOIN dates d ON coalesce(f.dk, 2) = d.dk
WHERE d.yr = 1;

-- computed of two relations
SELECT f.id FROM returns f JOIN stores s ON s.sk = f.qty JOIN dates d ON f.dk + s.size = d.dk WHERE d.yr = 1;

-- computed key with dims of two
SELECT f.id FROM returns f JOIN stores s ON s.sk = f.qty JOIN dates d ON f.dk = d.dk + s.size WHERE d.yr = 1;

-- computed below group
SELECT q.k FROM (SELECT coalesce(dk, 1) AS k, count(*) n FROM returns GROUP BY coalesce(dk, 1)) q JOIN dates d
ON q.k = d.dk WHERE d.yr = 1;

-- computed below left join
SELECT d.dk, q.k FROM dates d LEFT JOIN (SELECT coalesce(dk, 1) AS k, id FROM returns) q ON q.k = d.dk WHERE
d.yr = 1;

-- cast narrowing key 
SELECT f.id FROM returns f JOIN dates d ON CAST(f.dk AS STRING) = CAST(d.dk AS STRING) WHERE d.yr = 1;

-- cast bigint range
SELECT f.id FROM orders f JOIN dates d ON f.lk = d.dk + 1 WHERE d.yr = 1;

-- duplicate output names derived
SELECT q.* FROM (SELECT f.day, d.day AS d2, d.dk FROM sales f JOIN dates d ON f.day = d.day) q JOIN stores s
ON s.sk = q.dk WHERE s.size = 2;

-- duplicate names star
SELECT count(*) FROM (SELECT * FROM sales f JOIN dates d ON f.day = d.day) q JOIN stores s ON s.sk = q.dk
WHERE s.size = 2;

-- semi join with neighbour filter
SELECT f.id FROM sales f LEFT SEMI JOIN dates d ON f.day = d.day AND d.yr = 1 JOIN stores s ON s.sk = f.qty
WHERE s.size = 2;

-- anti join with neighbour dims
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day LEFT ANTI JOIN stores s ON s.sk = d.dk AND s.size = 2;

-- anti joined then neighbour
SELECT d.dk FROM dates d LEFT ANTI JOIN sales f ON f.day = d.day JOIN stores s ON s.sk = d.dk WHERE s.size = 2;

-- semi derived neighbour
SELECT d.dk FROM dates d LEFT SEMI JOIN sales f ON f.day = d.day JOIN stores s ON s.sk = d.dk WHERE s.size = 2;

-- bool only
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day WHERE d.holiday;

-- bool in on of left join
SELECT d.dk, f.id FROM dates d LEFT JOIN sales f ON f.day = d.day AND d.holiday;

-- case condition
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day WHERE CASE WHEN d.yr = 1 THEN f.qty = 1 ELSE f.qty = 2
END;

-- lateral neighbour
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day, LATERAL (SELECT s.size FROM stores s WHERE s.sk = d.dk
AND s.size = 2) l;

-- set op types in dims: int/bigint
SELECT f.id FROM orders f JOIN (SELECT dk AS k, yr FROM dates UNION ALL SELECT sk, size FROM stores) d ON f.lk
= d.k WHERE d.yr = 2;

-- dims EXCEPT
SELECT f.id FROM returns f JOIN (SELECT dk AS k FROM dates EXCEPT SELECT sk FROM stores) d ON f.dk = d.k JOIN
regions r ON r.rk = d.k WHERE r.zone > 1;

-- intersect derived neighbour restricting
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN (SELECT sk AS k FROM stores WHERE size = 2
INTERSECT SELECT rk FROM regions) x ON x.k = d.dk;

-- correlated condition naming outer in between
SELECT d.dk FROM dates d WHERE d.yr = 1 AND EXISTS (SELECT 1 FROM sales f JOIN stores s ON s.sk = f.qty AND
s.size = d.moy WHERE f.day = d.day);

-- correlated inside derived of neighbour
SELECT s.sk FROM stores s WHERE EXISTS (SELECT 1 FROM sales f JOIN dates d ON f.day = d.day WHERE d.dk = s.sk
AND d.yr = s.size);

-- view chain
SELECT f.id FROM sold f JOIN weeks w ON f.day = w.day JOIN dates e ON e.yr = w.wk WHERE e.moy = 1;

-- view neighbour bridging
SELECT f.id FROM clicks f JOIN places p ON f.city = p.city WHERE p.zone = 2;

-- tie inside moves union view
SELECT f.id FROM moves f JOIN weeks w ON f.k = w.dk JOIN dates e ON e.yr = w.wk WHERE e.moy = 1;

-- view with cte shadow of base table
WITH dates AS (SELECT 1 AS one) SELECT f.id FROM sold f JOIN weeks w ON f.day = w.day, dates WHERE w.wk = 1;

-- rollup above
SELECT d.yr, s.size, count(*) FROM sales f JOIN dates d ON f.day = d.day JOIN stores s ON s.sk = d.dk WHERE
s.size = 2 GROUP BY ROLLUP(d.yr, s.size);

-- range with tie to neighbours of dimension, bool
SELECT f.id FROM returns f, spans d, stores s WHERE f.dk BETWEEN d.lo AND d.hi AND s.grp = d.grp AND d.live
AND s.size = 2;

-- range null-safe plus equality
SELECT f.id FROM returns f JOIN dates d ON f.dk = d.dk AND f.dk <= d.moy WHERE d.yr = 2;

-- range with computed fact
SELECT f.id FROM returns f JOIN spans d ON f.dk + 1 BETWEEN d.lo AND d.hi WHERE d.grp = 2;

-- range with decreasing function
SELECT f.id FROM returns f JOIN spans d ON - f.dk >= d.lo WHERE d.grp = 2;

-- range with date_sub on fact side: monotone decr
SELECT f.id FROM sales f JOIN spans d ON f.day >= DATE_SUB(d.since, 1) AND DATE_ADD(f.day, 1) < d.until WHERE
d.grp = 2;

-- # one column or expression twice, tuples

-- union view, plain column
SELECT f.id FROM moves f JOIN dates d ON f.k = d.dk WHERE d.yr = 1;

-- inline union
SELECT f.id FROM (SELECT id, dk AS k FROM returns UNION ALL SELECT id, dk FROM stock) f JOIN dates d ON f.k =
d.dk WHERE d.yr = 1;

-- same fact column tied twice to one dimension
SELECT f.id FROM returns f JOIN dates d ON f.dk = d.dk AND f.dk = d.yr WHERE d.moy = 1;

-- computed twice
SELECT f.id FROM returns f JOIN dates d ON coalesce(f.dk, 1) = d.dk AND coalesce(f.dk, 2) = d.yr WHERE d.moy =
1;

-- two uses of one expression
SELECT f.id FROM returns f JOIN dates d ON coalesce(f.dk, 1) = d.dk AND coalesce(f.dk, 1) = d.dk WHERE d.moy =
1;

-- cte referenced twice, tied plain and with tuple
WITH c AS (SELECT id, day, dk FROM stock) SELECT a.id FROM c a JOIN dates d ON a.day = d.day AND a.dk = d.dk
WHERE d.yr = 1 UNION ALL SELECT b.id FROM c b JOIN dates d ON b.day = d.day AND b.dk = d.dk WHERE d.yr = 2;

-- tuple from two branches
SELECT q.id FROM (SELECT id, day, dk FROM stock UNION ALL SELECT id, day, dk FROM stock) q JOIN dates d ON
q.day = d.day AND q.dk = d.dk WHERE d.yr = 1;

-- tuple one column each of two facts, one dimension
SELECT f.id FROM stock f JOIN sales g ON f.id = g.id JOIN dates d ON f.dk = d.dk AND g.day = d.day WHERE d.yr
= 1;

-- expression over two partition columns
SELECT f.id FROM visits f JOIN regions r ON concat(f.city, CAST(f.sk AS STRING)) = concat(r.city, CAST(r.rk AS
STRING)) WHERE r.zone = 2;

-- # subqueries, windows, ranges below operators, nested outer joins

-- IN of a union, one branch bound
SELECT f.id FROM sales f WHERE f.day IN (SELECT d.day FROM dates d WHERE d.yr = 1 UNION ALL SELECT e.day FROM
promos e);

-- IN of except
SELECT f.id FROM sales f WHERE f.day IN (SELECT d.day FROM dates d WHERE d.yr = 1 EXCEPT SELECT e.day FROM
promos e);

-- fact inside a union in IN
SELECT d.dk FROM dates d WHERE d.yr = 1 AND d.day IN (SELECT f.day FROM sales f UNION SELECT p.day FROM promos
p);

-- correlated IN and tie
SELECT f.id FROM stock f WHERE f.day IN (SELECT d.day FROM dates d WHERE d.dk = f.dk AND d.yr = 1);

-- correlated union in IN
SELECT f.id FROM stock f WHERE f.day IN (SELECT d.day FROM dates d WHERE d.dk = f.dk AND d.yr = 1 UNION ALL
SELECT p.day FROM promos p);

-- tuple of two relations
SELECT f.id FROM stock f WHERE (f.day, f.dk) IN (SELECT d.day, e.dk FROM dates d JOIN dates e ON d.yr = e.moy
WHERE d.moy = 1);

-- tuple reversed
SELECT d.yr FROM dates d WHERE d.yr < 3 AND (d.day, d.dk) IN (SELECT f.day, f.dk FROM stock f WHERE f.qty = 1);

-- IN grouped having
SELECT d.dk FROM dates d WHERE d.yr = 1 AND d.day IN (SELECT f.day FROM sales f GROUP BY f.day HAVING count(*)
> 1);

-- IN of max
SELECT d.dk FROM dates d WHERE d.yr = 1 AND d.day IN (SELECT max(f.day) FROM sales f GROUP BY f.qty);

-- IN with LIMIT
SELECT d.dk FROM dates d WHERE d.yr = 1 AND d.day IN (SELECT f.day FROM sales f ORDER BY f.day LIMIT 3);

-- EXISTS global
SELECT d.dk FROM dates d WHERE d.yr = 1 AND EXISTS (SELECT count(*) FROM sales f WHERE f.day = d.day);

-- EXISTS having
SELECT d.dk FROM dates d WHERE d.yr = 1 AND EXISTS (SELECT count(*) FROM sales f WHERE f.day = d.day HAVING
count(*) = 0);

-- count = 0
SELECT d.dk FROM dates d JOIN stores s ON s.sk = d.dk WHERE s.size = 1 AND (SELECT count(*) FROM sales f WHERE
f.day = d.day) = 0;

-- window partition with neighbours
SELECT q.id, q.n FROM (SELECT id, day, count(*) OVER (PARTITION BY day) n FROM sales) q JOIN dates d ON q.day
= d.day JOIN stores s ON s.sk = d.dk WHERE s.size = 2;

-- window partition by something else
SELECT q.id, q.n FROM (SELECT id, day, count(*) OVER (PARTITION BY qty) n FROM sales) q JOIN dates d ON q.day
= d.day JOIN stores s ON s.sk = d.dk WHERE s.size = 2;

-- lateral count
SELECT d.dk, l.n FROM dates d JOIN stores s ON s.sk = d.dk, LATERAL (SELECT count(*) n FROM sales f WHERE
f.day = d.day) l WHERE s.size = 2;

-- range window
SELECT q.id, q.n FROM (SELECT id, dk, count(*) OVER (PARTITION BY dk) n FROM returns) q JOIN spans d ON q.dk
BETWEEN d.lo AND d.hi WHERE d.grp = 2;

-- range under group by p
SELECT q.dk, q.n FROM (SELECT dk, count(*) n FROM returns GROUP BY dk) q JOIN spans d ON q.dk BETWEEN d.lo AND
d.hi WHERE d.grp = 2;

-- range below union
SELECT q.k FROM (SELECT dk AS k FROM returns UNION ALL SELECT lk FROM orders UNION ALL SELECT 3) q JOIN spans
d ON q.k BETWEEN d.lo AND d.hi WHERE d.grp = 2;

-- range with LIMIT below
SELECT q.k FROM (SELECT dk AS k FROM returns ORDER BY dk LIMIT 5) q JOIN spans d ON q.k BETWEEN d.lo AND d.hi
WHERE d.grp = 2;

-- range semi
SELECT f.id FROM returns f LEFT SEMI JOIN spans d ON f.dk BETWEEN d.lo AND d.hi AND d.grp = 2;

-- range dimension LEFT SEMI fact
SELECT d.lo FROM spans d LEFT SEMI JOIN returns f ON f.dk BETWEEN d.lo AND d.hi WHERE d.grp = 2;

-- range anti
SELECT d.lo FROM spans d LEFT ANTI JOIN returns f ON f.dk BETWEEN d.lo AND d.hi WHERE d.grp = 2;

-- full range with coalesce filter
SELECT d.lo, f.id FROM spans d FULL JOIN returns f ON f.dk BETWEEN d.lo AND d.hi WHERE coalesce(d.grp, 2) = 2;

-- not between
SELECT d.lo, f.id FROM spans d JOIN returns f ON NOT f.dk BETWEEN d.lo AND d.hi WHERE d.grp = 2;

-- between with fact in the bounds and key in both
SELECT d.lo, f.id FROM spans d JOIN stock f ON d.lo BETWEEN f.dk AND f.qty WHERE d.grp = 2;

-- between two dims
SELECT f.id FROM returns f JOIN stores s ON s.grp = f.qty JOIN spans d ON f.dk BETWEEN d.lo AND s.sk WHERE
d.grp = 2 AND s.size = 1;

-- scalar not in range with limit in CTE
WITH f AS (SELECT * FROM returns), g AS (SELECT * FROM f WHERE dk > 1) SELECT f.id FROM f JOIN dates d ON f.dk
= d.dk WHERE d.yr = 1 UNION ALL SELECT g.id FROM g JOIN dates d ON g.dk = d.dk WHERE d.yr = 1;

-- boolean tie
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN spans s ON s.live = d.holiday WHERE s.grp = 2;

-- same table twice role swap
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN dates e ON e.yr = d.yr JOIN dates g ON g.yr =
e.moy WHERE g.moy = 2;

-- cyclic joins
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN stores s ON s.sk = d.dk JOIN regions r ON r.city =
s.city AND r.rk = d.moy AND r.zone = f.qty WHERE r.label = 'a';

-- neighbour through fact non key
SELECT f.id FROM sales f JOIN dates d ON f.day = d.day JOIN stores s ON s.sk = f.qty AND s.grp = d.dk WHERE
s.size = 2;

-- full chain of outer joins
SELECT f.id, d.dk, s.sk, r.rk FROM sales f LEFT JOIN dates d ON f.day = d.day LEFT JOIN stores s ON s.sk =
d.dk LEFT JOIN regions r ON r.city = s.city WHERE r.zone = 2;

-- full chain of right joins
SELECT f.id, d.dk, s.sk, r.rk FROM sales f RIGHT JOIN dates d ON f.day = d.day RIGHT JOIN stores s ON s.sk =
d.dk LEFT JOIN regions r ON r.city = s.city WHERE r.zone = 2;

-- right joins, filter on last in ON
SELECT f.id, d.dk, s.sk, r.rk FROM sales f RIGHT JOIN dates d ON f.day = d.day RIGHT JOIN stores s ON s.sk =
d.dk RIGHT JOIN regions r ON r.city = s.city AND r.zone = 2;

-- parens
SELECT f.id, d.dk, s.sk, r.rk FROM sales f RIGHT JOIN (dates d LEFT JOIN (stores s JOIN regions r ON r.city =
s.city AND r.zone = 2) ON s.sk = d.dk) ON f.day = d.day;

-- parens inner
SELECT f.id, d.dk, s.sk FROM dates d LEFT JOIN (sales f JOIN stores s ON s.sk = f.qty) ON f.day = d.day AND
s.grp = d.dk WHERE d.yr = 1;

-- parens with dim inside null-extended and fact too
SELECT f.id, d.dk, s.sk FROM stores s LEFT JOIN (sales f JOIN dates d ON f.day = d.day) ON s.sk = d.dk WHERE
s.size = 2;

-- same in anti
SELECT s.sk FROM stores s LEFT ANTI JOIN (SELECT d.dk FROM sales f JOIN dates d ON f.day = d.day) q ON s.sk =
q.dk WHERE s.size = 2;

-- same in full
SELECT s.sk, q.dk FROM stores s FULL JOIN (SELECT d.dk FROM sales f JOIN dates d ON f.day = d.day) q ON s.sk =
q.dk WHERE s.size = 2;

-- not in derived join
SELECT s.sk FROM stores s WHERE s.size = 2 AND s.sk NOT IN (SELECT d.dk FROM sales f JOIN dates d ON f.day =
d.day);

-- in derived join
SELECT s.sk FROM stores s WHERE s.size = 2 AND s.sk IN (SELECT d.dk FROM sales f JOIN dates d ON f.day =
d.day);

-- cte shared by main and subquery with not in
WITH c AS (SELECT d.dk AS w FROM sales f JOIN dates d ON f.day = d.day) SELECT s.sk FROM stores s JOIN c ON
c.w = s.sk WHERE s.size = 2 AND s.grp NOT IN (SELECT w FROM c x WHERE x.w = 1);

-- # set operations inside IN and EXISTS

-- IN of union, branch with a join
SELECT f.id FROM sales f WHERE f.day IN (SELECT d.day FROM dates d JOIN stores s ON s.sk = d.dk WHERE s.size =
2 UNION ALL SELECT e.day FROM promos e);

-- EXISTS of union
SELECT f.id FROM sales f WHERE EXISTS (SELECT 1 FROM dates d WHERE d.day = f.day AND d.yr = 1 UNION ALL SELECT
1 FROM promos p WHERE p.day = f.day);

-- EXISTS of union, fact inside
SELECT d.dk FROM dates d WHERE d.yr = 1 AND EXISTS (SELECT 1 FROM sales f WHERE d.day = f.day UNION ALL SELECT
1 FROM stock p WHERE p.day = d.day);

-- NOT EXISTS of union
SELECT d.dk FROM dates d WHERE d.yr = 1 AND NOT EXISTS (SELECT 1 FROM sales f WHERE d.day = f.day UNION ALL
SELECT 1 FROM stock p WHERE p.day = d.day);

-- EXISTS of except
SELECT d.dk FROM dates d WHERE d.yr = 1 AND EXISTS (SELECT f.day FROM sales f WHERE d.day = f.day EXCEPT
SELECT p.day FROM stock p WHERE p.day = d.day);

-- IN of union in ON of left join
SELECT s.sk, f.id FROM stores s LEFT JOIN sales f ON s.sk = f.qty AND f.day IN (SELECT d.day FROM dates d JOIN
stores t ON t.sk = d.dk WHERE t.size = 2 UNION ALL SELECT e.day FROM promos e);

-- IN of intersect
SELECT f.id FROM sales f WHERE f.day IN (SELECT d.day FROM dates d JOIN stores s ON s.sk = d.dk WHERE s.size =
2 INTERSECT SELECT e.day FROM promos e);

-- IN of derived union
SELECT f.id FROM sales f WHERE f.day IN (SELECT q.day FROM (SELECT d.day, d.yr FROM dates d UNION ALL SELECT
e.day, e.rate FROM promos e) q WHERE q.yr = 1);

-- IN with limit and join
SELECT f.id FROM sales f WHERE f.day IN (SELECT d.day FROM dates d JOIN stores s ON s.sk = d.dk WHERE s.size >
1 ORDER BY d.day LIMIT 2);

-- IN with group
SELECT f.id FROM sales f WHERE f.day IN (SELECT max(d.day) FROM dates d JOIN stores s ON s.sk = d.dk WHERE
s.size > 1 GROUP BY s.city);

-- IN with left join
SELECT f.id FROM sales f WHERE f.day IN (SELECT d.day FROM dates d LEFT JOIN stores s ON s.sk = d.dk AND
s.size > 1);

-- IN of union under OR
SELECT f.id FROM sales f WHERE f.qty = 1 OR f.day IN (SELECT d.day FROM dates d JOIN stores s ON s.sk = d.dk
WHERE s.size > 1);

-- IN union correlated tie in a branch
SELECT f.id FROM stock f WHERE f.qty IN (SELECT d.yr FROM dates d WHERE d.dk = f.dk AND d.moy = 1 UNION ALL
SELECT p.rate FROM promos p);

-- IN correlated tie single
SELECT f.id FROM stock f WHERE f.qty IN (SELECT d.yr FROM dates d WHERE d.dk = f.dk AND d.moy = 1);

-- IN correlated tie with a limit
SELECT f.id FROM stock f WHERE f.qty IN (SELECT d.yr FROM dates d WHERE d.dk >= f.dk AND d.moy = 1);

-- scalar compare: correlated
SELECT f.id FROM stock f WHERE f.qty = (SELECT max(d.yr) FROM dates d WHERE d.dk = f.dk AND d.moy = 1);

-- scalar is null: correlated
SELECT f.id FROM stock f WHERE (SELECT max(d.yr) FROM dates d WHERE d.dk = f.dk AND d.moy = 1) IS NULL;

-- exists with union in from
SELECT f.id FROM stock f WHERE EXISTS (SELECT 1 FROM (SELECT dk, moy FROM dates UNION ALL SELECT dk, rate FROM
promos) d WHERE d.dk = f.dk AND d.moy = 1);

-- exists tie by range union
SELECT f.id FROM stock f WHERE EXISTS (SELECT 1 FROM spans d WHERE f.dk BETWEEN d.lo AND d.hi AND d.grp = 1
UNION ALL SELECT 1 FROM spans e WHERE f.dk > e.lo);

-- IN of a set op in parens
SELECT f.id FROM sales f WHERE f.day IN ((SELECT d.day FROM dates d JOIN stores s ON s.sk = d.dk WHERE s.size
= 2) UNION (SELECT e.day FROM promos e));

-- IN of WITH union
SELECT f.id FROM sales f WHERE f.day IN (WITH a AS (SELECT d.day FROM dates d JOIN stores s ON s.sk = d.dk
WHERE s.size = 2) SELECT day FROM a UNION ALL SELECT e.day FROM promos e);

-- fact inside IN of intersect and except, dim outside
SELECT d.dk FROM dates d JOIN stores s ON s.sk = d.dk WHERE s.size = 2 AND d.day IN (SELECT f.day FROM sales f
EXCEPT SELECT g.day FROM stock g);
