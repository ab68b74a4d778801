-- name: join, filter in ON
SELECT f.landed, f.port FROM landings f JOIN ports d ON f.port = d.port AND d.country = 'NL';
-- name: join, filter in WHERE
SELECT f.landed, f.kind, f.tons, f.port FROM landings f JOIN ports d ON f.port = d.port WHERE d.country = 'DE';
-- name: comma join
SELECT f.landed, f.tons FROM landings f, ports d WHERE f.port = d.port AND d.country = 'DE';
-- name: using
SELECT f.landed, port FROM landings f JOIN ports d USING (port) WHERE d.country = 'DE';
-- name: natural join
SELECT landed, port FROM landings NATURAL JOIN (SELECT port, country FROM ports) d WHERE d.country = 'DE';
-- name: no pruning: dimension without a filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port;
-- name: no pruning: not partitioned
SELECT f.landed FROM landings_flat f JOIN ports d ON f.port = d.port WHERE d.country = 'NL';
-- name: no pruning: key is no partition column
SELECT f.landed FROM landings f JOIN ports d ON f.kind = d.port WHERE d.country = 'NL';
-- name: left semi, fact on the left
SELECT * FROM landings f LEFT SEMI JOIN ports d ON f.port = d.port AND d.country = 'NL';
-- name: left semi, fact on the right
SELECT d.port, d.country FROM ports d LEFT SEMI JOIN landings f ON f.port = d.port AND d.country = 'NL';
-- name: no pruning: left join keeps the fact
SELECT f.landed, d.country FROM landings f LEFT JOIN ports d ON f.port = d.port WHERE f.tons = 10;
-- name: right join, fact on the left
SELECT f.landed, d.country FROM landings f RIGHT JOIN ports d ON f.port = d.port WHERE d.country = 'NL';
-- name: left join that WHERE makes inner
SELECT f.landed, d.country FROM landings f LEFT JOIN ports d ON f.port = d.port WHERE d.country = 'NL';
-- name: no pruning: full join
SELECT f.landed, d.country FROM landings f FULL JOIN ports d ON f.port = d.port;
-- name: LIKE
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country LIKE '%L_%' OR d.country LIKE 'D%';
-- name: LIKE ANY
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country LIKE ANY ('%D%E%', '%A%B%');
-- name: LIKE ALL
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country LIKE ALL ('%N%', '%L%');
-- name: RLIKE
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country RLIKE '[DE]';
-- name: key filter and IN of another table
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.port > 2 AND d.port IN (SELECT c.port FROM closed c);
-- name: fact key plus one
SELECT f.landed, f.port FROM landings f JOIN ports d ON f.port + 1 = d.port WHERE d.country = 'DE';
-- name: both keys plus one
SELECT f.landed FROM (SELECT landed, port AS p FROM landings) f JOIN ports d ON f.p + 1 = d.port + 1 WHERE d.country = 'DE';
-- name: fact in a derived table
SELECT f.landed, f.k, f.p FROM (SELECT landed, kind AS k, port AS p FROM landings) AS f JOIN ports d ON f.p = d.port WHERE d.country = 'DE';
-- name: fact in two derived tables with a join
SELECT f.landed, f.k, f.p FROM (SELECT landed, kd AS k, pd AS p FROM (SELECT landed, kind AS kd, port AS pd FROM landings) i JOIN ports x ON i.pd = x.port) f JOIN ports d ON f.p = d.port WHERE d.country = 'DE';
-- name: fact in three derived tables with joins
SELECT f.landed, f.p1 AS p FROM (SELECT landed, p2 AS p1 FROM ((SELECT landed, port AS p2 FROM landings) a JOIN ports b ON a.p2 = b.port) JOIN ports c ON p2 = c.port) f JOIN ports d ON f.p1 = d.port WHERE d.country = 'DE';
-- name: no pruning: rand in the fact's derived table
SELECT f.landed, f.p FROM (SELECT landed, port AS p FROM landings WHERE rand() > 2) AS f JOIN ports d ON f.p = d.port WHERE d.country = 'DE';
-- name: no pruning: rand under a join
SELECT f.landed, f.p FROM (SELECT landed, pd AS p FROM (SELECT landed, port AS pd FROM landings WHERE rand() > 2) i JOIN ports x ON i.pd = x.port) f JOIN ports d ON f.p = d.port WHERE d.country = 'DE';
-- name: one of several partition columns, INT
SELECT f.id, f.one FROM harvest f JOIN crops d ON f.one = d.one WHERE d.prod > 80;
-- name: one of several partition columns, TINYINT
SELECT f.id, f.two FROM harvest f JOIN crops d ON f.two = d.two WHERE d.prod > 80;
-- name: one of several partition columns, SMALLINT
SELECT f.id, f.three FROM harvest f JOIN crops d ON f.three = d.three WHERE d.prod > 80;
-- name: one of several partition columns, STRING
SELECT f.id, f.name FROM harvest f JOIN crops d ON f.name = d.name WHERE d.prod > 80;
-- name: three integer keys
SELECT f.id, f.one, f.two FROM harvest f JOIN crops d ON f.one = d.one AND f.two = d.two AND f.three = d.three WHERE d.prod > 80;
-- name: four keys
SELECT f.id, f.one, f.two FROM harvest f JOIN crops d ON f.one = d.one AND f.two = d.two AND f.three = d.three AND f.name = d.name WHERE d.prod > 80;
-- name: SMALLINT against INT
SELECT f.id FROM harvest f JOIN crops d ON f.three = d.one WHERE d.prod > 80;
-- name: INT against BIGINT
SELECT f.id FROM harvest f JOIN crops d ON f.one = d.id WHERE d.prod > 80;
-- name: left join below, broadcast hint above
SELECT /*+ BROADCAST(c) */ a.n, a.level FROM levels a LEFT JOIN labels b ON a.level = b.n AND b.grp = 'g1' JOIN crops c ON a.level = c.id WHERE c.prod > 60;
-- name: nested joins with one date table twice
WITH aux AS (SELECT c.id AS cid FROM levels l, crops c, ports d WHERE l.level = d.port AND l.n = c.id AND d.size IN (20, 40, 60) GROUP BY c.id HAVING count(*) > 0) SELECT sum(t.n) FROM crops c, ports d, aux, levels t WHERE d.size IN (10, 30, 50) AND t.level = d.port AND t.n = c.id AND c.id = aux.cid;
-- name: one dimension joined twice on two columns
SELECT x.landed, x.port FROM (SELECT f.landed, f.port, f.kind FROM landings f JOIN crops d ON f.port = d.one AND f.kind = d.id WHERE d.id > 1) x JOIN crops e ON x.kind = e.id AND x.port = e.one WHERE e.id < 5;
-- name: key of two columns on each side
SELECT f.id FROM harvest f JOIN crops d ON concat(f.name, f.one) = concat(d.name, d.one) WHERE d.prod = 50;
-- name: dimension filtered by a scalar subquery
SELECT f.id, f.name FROM harvest f JOIN crops d ON f.name = d.name WHERE d.prod = (SELECT avg(e.prod) FROM crops e WHERE e.id IN (2, 4));
-- name: dimension filtered by less than a scalar subquery
SELECT f.landed, b.port FROM landings f JOIN berths b ON f.port = b.port WHERE b.berth < (SELECT max(e.berth) FROM berths e WHERE e.berth <= 30);
-- name: in a scalar subquery too
SELECT d.port, sum(f.tons), (SELECT sum(g.tons) FROM landings g JOIN ports e ON e.port = g.port WHERE e.country = 'US') AS total FROM landings f JOIN ports d ON d.port = f.port WHERE d.country = 'US' GROUP BY d.port;
-- name: self-join of a CTE, both sides filtered
WITH v AS (SELECT f.port FROM landings f WHERE f.tons = 60) SELECT a.port, b.port FROM v a JOIN v b ON a.port = b.port;
-- name: self-join of a CTE with GROUP BY
WITH v AS (SELECT f.port FROM landings f WHERE f.tons = 60 GROUP BY f.port) SELECT a.port, b.port FROM v a JOIN v b ON a.port = b.port;
-- name: partitioned dimension, the flat table filtered
SELECT f.landed, f.port FROM landings_flat f JOIN berths b ON f.port = b.port WHERE f.landed <= 3;
-- name: partitioned dimension, the flat table hinted
SELECT /*+ BROADCAST(f) */ f.landed, f.port FROM landings_flat f JOIN berths b ON f.port = b.port WHERE f.landed <= 3;
-- name: partitioned dimension with a filter
SELECT f.landed, f.port FROM landings f JOIN berths b ON f.port = b.port WHERE b.berth = 20;
-- name: struct keys
SELECT f.landed FROM landings f JOIN ports d ON struct(f.port) = struct(d.port) WHERE d.country = 'DE';
-- name: array keys
SELECT f.landed FROM landings f JOIN ports d ON array(f.port) = array(d.port) WHERE d.country = 'DE';
-- name: named_struct keys of two columns
SELECT f.landed FROM landings f JOIN ports d ON named_struct('a', f.port, 'b', f.kind) = named_struct('a', d.port, 'b', d.size) WHERE d.country = 'DE';
-- name: a filter that nothing passes
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country = 'XYZ';
-- name: fact DISTINCT, dimension with a row_number
SELECT s.port, f.kind FROM (SELECT DISTINCT * FROM landings) f JOIN (SELECT *, row_number() OVER (PARTITION BY port ORDER BY region DESC) AS rn FROM ports) s ON f.port = s.port WHERE s.country = 'DE' AND s.rn = 1;
-- name: key plus three in a derived dimension
SELECT f.landed, f.kind FROM landings f JOIN (SELECT port + 3 AS q FROM ports WHERE country = 'US') s ON f.port = s.q;
-- name: no pruning: fact bound by =
SELECT /*+ BROADCAST(d) */ * FROM landings f JOIN ports d ON f.port = d.port AND f.port = 1;
-- name: no pruning: fact bound by <=>
SELECT /*+ BROADCAST(d) */ * FROM landings f JOIN ports d ON f.port = d.port WHERE f.port <=> 1;
-- name: filter on the fact's key, hinted, in ON
SELECT /*+ BROADCAST(d) */ f.landed FROM landings f JOIN ports d ON f.port = d.port AND f.port > 1;
-- name: filter on the fact's key, hinted, in WHERE
SELECT /*+ BROADCAST(d) */ f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE f.port > 1;
-- name: filter on the fact's key, turned round
SELECT /*+ BROADCAST(d) */ f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE 5 < f.port;
-- name: filter on the fact's key, dimension first, in ON
SELECT /*+ BROADCAST(d) */ f.landed FROM ports d JOIN landings f ON f.port = d.port AND f.port > 1;
-- name: filter on the fact's key, dimension first, in WHERE
SELECT /*+ BROADCAST(d) */ f.landed FROM ports d JOIN landings f ON f.port = d.port WHERE 5 < f.port;
-- name: filter on the fact's key without a hint
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE f.port > 3;
-- name: IN list on the fact's key
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE f.port IN (1, 2, 15, 16);
-- name: no pruning: union of constants
SELECT f.port, f.landed FROM (SELECT 4 AS port, landed FROM landings WHERE landed >= 90 UNION ALL SELECT 5 AS port, landed FROM landings WHERE landed <= 3) f JOIN ports d ON f.port = d.port WHERE d.country = 'US';
-- name: duplicate keys
SELECT f.landed FROM landings f JOIN (SELECT d.port, e.size FROM ports d CROSS JOIN ports e) d ON f.port = d.port WHERE d.size = 20 AND f.landed > 10;
-- name: union with a constant in the second branch
SELECT f.port, f.landed FROM (SELECT port, landed FROM landings WHERE landed <= 50 UNION ALL SELECT 4 AS port, landed FROM landings WHERE landed >= 90) f JOIN ports d ON f.port = d.port WHERE d.country IN ('US', 'NL');
-- name: union with a constant in the first branch
SELECT f.port, f.landed FROM (SELECT 4 AS port, landed FROM landings WHERE landed >= 90 UNION ALL SELECT port, landed FROM landings WHERE landed <= 50) f JOIN ports d ON f.port = d.port WHERE d.country IN ('US', 'NL');
-- name: union of two facts
SELECT f.port, f.landed FROM (SELECT port, landed FROM landings UNION ALL SELECT port, landed + 1 FROM landings WHERE tons > 10) f JOIN ports d ON f.port = d.port WHERE d.country IN ('US', 'NL');
-- name: a filter that compares with another dimension's maximum
SELECT f.landed, f.port FROM landings f JOIN ports d ON f.port = d.port AND d.country = 'NL' WHERE d.region != (SELECT max(region) FROM ports);
-- name: static metrics shape
SELECT sum(f.landed) FROM landings f, crops d WHERE f.port = d.id AND d.one = 6;
-- name: VALUES without a filter
SELECT f.landed FROM landings f JOIN (VALUES (1), (2)) AS d(port) ON f.port = d.port;
-- name: VALUES with a filter
SELECT f.landed FROM landings f JOIN (VALUES (1, 'a'), (2, 'b')) AS d(port, c) ON f.port = d.port WHERE d.c = 'a';
-- name: VALUES without parentheses
SELECT f.landed FROM landings f JOIN VALUES (1), (2) AS d(port) ON f.port = d.port;
-- name: VALUES in a CTE
WITH d AS (SELECT * FROM VALUES (1, 'a'), (2, 'b') AS v(port, c)) SELECT f.landed FROM landings f JOIN d ON f.port = d.port;
-- name: VALUES in a derived table
SELECT f.landed FROM landings f JOIN (SELECT port FROM VALUES (1), (7) AS v(port)) d ON f.port = d.port;
-- name: SELECTs of constants
SELECT f.landed FROM landings f JOIN (SELECT 1 AS port UNION ALL SELECT 2) d ON f.port = d.port;
-- name: exploded array
SELECT f.landed FROM landings f JOIN (SELECT explode(array(1, 2)) AS port) d ON f.port = d.port;
-- name: range()
SELECT f.landed FROM landings f JOIN range(3) d ON f.port = d.id;
-- name: dimension narrowed by an anti-join
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.port NOT IN (4, 5) AND NOT EXISTS (SELECT 1 FROM closed c WHERE c.port = d.port AND c.why = 'storm');
-- name: dimension narrowed by LEFT ANTI JOIN
SELECT f.landed FROM landings f JOIN (SELECT d.port FROM ports d LEFT ANTI JOIN closed c ON c.port = d.port AND c.why = 'ice') d ON f.port = d.port;
-- name: dimension narrowed by EXISTS
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE EXISTS (SELECT 1 FROM closed c WHERE c.port = d.port AND c.why = 'storm');
-- name: dimension narrowed by NOT EXISTS
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE NOT EXISTS (SELECT 1 FROM closed c WHERE c.port = d.port AND c.why = 'ice');
-- name: dimension narrowed by IN
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.port IN (SELECT c.port FROM closed c WHERE c.why = 'storm');
-- name: dimension narrowed by NOT IN
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.region NOT IN (SELECT e.region FROM ports e WHERE e.country = 'DE');
-- name: dimension narrowed by a semi-join
SELECT f.landed FROM landings f JOIN (SELECT d.port FROM ports d LEFT SEMI JOIN closed c ON c.port = d.port AND c.why = 'storm') d ON f.port = d.port;
-- name: dimension of an aggregate
SELECT f.landed FROM landings f JOIN (SELECT max(port) AS port FROM ports WHERE country = 'DE' GROUP BY region) d ON f.port = d.port;
-- name: dimension with HAVING
SELECT f.landed FROM landings f JOIN (SELECT port, count(*) AS n FROM closed GROUP BY port HAVING max(why) = 'storm') d ON f.port = d.port;
-- name: dimension of a join
SELECT f.landed FROM landings f JOIN (SELECT d.port FROM ports d JOIN closed c ON c.port = d.port WHERE c.why = 'storm') d ON f.port = d.port;
-- name: dimension of a union
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports WHERE country = 'NL' UNION ALL SELECT port FROM closed WHERE why = 'storm') d ON f.port = d.port;
-- name: LATERAL fact
SELECT d.port, x.n FROM ports d, LATERAL (SELECT sum(f.tons) AS n FROM landings f WHERE f.port = d.port) x WHERE d.country = 'DE';
-- name: LATERAL fact without an aggregate
SELECT d.port, x.landed FROM ports d JOIN LATERAL (SELECT f.landed FROM landings f WHERE f.port = d.port) x WHERE d.country = 'DE';
-- name: LATERAL dimension
SELECT f.landed, x.region FROM landings f, LATERAL (SELECT d.region FROM ports d WHERE d.port = f.port AND d.country = 'DE') x;
-- name: fact in a correlated scalar subquery
SELECT d.port, (SELECT sum(f.tons) FROM landings f WHERE f.port = d.port) AS n FROM ports d WHERE d.country = 'DE';
-- name: fact in EXISTS
SELECT d.port FROM ports d WHERE d.country = 'DE' AND EXISTS (SELECT 1 FROM landings f WHERE f.port = d.port);
-- name: fact in NOT EXISTS
SELECT d.port FROM ports d WHERE d.country = 'DE' AND NOT EXISTS (SELECT 1 FROM landings f WHERE f.port = d.port AND f.tons = 60);
-- name: fact outside EXISTS
SELECT f.landed FROM landings f WHERE EXISTS (SELECT 1 FROM ports d WHERE d.port = f.port AND d.country = 'DE');
-- name: the author's own IN
SELECT f.landed FROM landings f WHERE f.port IN (SELECT d.port FROM ports d WHERE d.country = 'DE');
-- name: the author's own IN beside the join
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country = 'DE' AND f.port IN (SELECT e.port FROM ports e WHERE e.country = 'DE');
-- name: the author's own IN of VALUES
SELECT f.landed FROM landings f WHERE f.port IN (SELECT * FROM VALUES (1), (2));
-- name: the author's own IN of two columns
SELECT f.id FROM trips f WHERE (f.year, f.month) IN (SELECT c.year, c.month FROM calendar c WHERE c.day = DATE '2024-01-05');
-- name: the author's own scalar subquery
SELECT f.landed FROM landings f WHERE f.port = (SELECT max(d.port) FROM ports d WHERE d.country = 'DE');
-- name: struct field as key
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.info.code WHERE d.country = 'DE';
-- name: struct field in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.info.name = 'n4';
-- name: array element in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.tags[0] = 't4';
-- name: map value in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.extra['zone'] = 'z1';
-- name: element_at in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE element_at(d.tags, 1) = 't4';
-- name: array_contains in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_contains(d.tags, 't4') AND d.size > 0;
-- name: size + 1 in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size + 1 > 60;
-- name: a division in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size / d.port = 10 AND d.size / 10 < 3;
-- name: modulo in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size % d.port = 0 AND pmod(d.port, 3) = 1;
-- name: a cast of a string in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CAST(d.code AS INT) < 40;
-- name: a string compared with a number
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.code < 40;
-- name: to_date in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_date(concat('20', d.code, '-01-01')) < DATE '2034-01-01';
-- name: to_date with a format
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_date(concat('01/01/20', d.code), 'dd/MM/yyyy') < DATE '2034-01-01';
-- name: substring in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE substring(d.country, 1, 1) = 'N';
-- name: upper in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE upper(d.region) = 'R1';
-- name: year in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE year(d.since) = 2020 AND datediff(d.since, DATE '2020-01-01') > 150;
-- name: date arithmetic in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since > DATE '2022-01-01' - INTERVAL '1' MONTH;
-- name: add_months in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE add_months(d.since, d.port) > DATE '2022-01-01';
-- name: date_format in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE date_format(d.since, 'yyyy') = '2020';
-- name: split in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE split(d.country, 'L')[0] = 'N';
-- name: regexp_extract in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE regexp_extract(d.region, 'r([0-9])', 1) = '1';
-- name: CASE in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CASE WHEN d.size > 50 THEN 'big' ELSE 'small' END = 'big';
-- name: coalesce in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE coalesce(d.country, 'XX') = 'DE';
-- name: abs and round in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE abs(d.size - 30) < 15 AND round(d.size / 7, 1) > 2;
-- name: a guarded division in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size <> 30 AND 100 / (d.size - 30) > 4;
-- name: hash in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE pmod(hash(d.port), 3) = 1;
-- name: make_date in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE make_date(d.size, 1, 1) < DATE '0030-03-01';
-- name: sum of two columns in the filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size + d.port > 60;
-- name: a boolean column alone
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.open;
-- name: cast of the fact's key to BIGINT
SELECT f.landed FROM landings f JOIN crops d ON CAST(f.port AS BIGINT) = d.id WHERE d.prod > 60;
-- name: cast of the dimension's key to INT
SELECT f.landed FROM landings f JOIN crops d ON f.port = CAST(d.id AS INT) WHERE d.prod > 60;
-- name: cast of both keys to STRING
SELECT f.landed FROM landings f JOIN crops d ON CAST(f.port AS STRING) = CAST(d.id AS STRING) WHERE d.prod > 60;
-- name: cast of a string key
SELECT f.landed FROM landings f JOIN ports d ON f.port = CAST(d.code AS INT) WHERE d.country = 'NL';
-- name: key of two columns added
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port + d.size WHERE d.country = 'NL';
-- name: key times two
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port * 2 WHERE d.country = 'DE';
-- name: fact key times two
SELECT f.landed FROM landings f JOIN ports d ON f.port * 2 = d.size WHERE d.country = 'DE';
-- name: key divided
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.size div 10 WHERE d.country = 'DE';
-- name: BIGINT key plus one
SELECT f.n FROM levels f JOIN crops d ON f.level = d.id + 1 WHERE d.prod > 60;
-- name: BIGINT fact key plus one
SELECT f.n FROM levels f JOIN crops d ON f.level + 1 = d.id WHERE d.prod > 60;
-- name: decimal key
SELECT f.n FROM prices f JOIN crops d ON f.price = d.one WHERE d.prod > 60;
-- name: date key
SELECT f.id FROM visits f JOIN calendar d ON f.day = d.day WHERE d.holiday = true AND d.month = 1;
-- name: date key moved by a day
SELECT f.id FROM visits f JOIN calendar d ON f.day = date_add(d.day, 1) WHERE d.month = 2;
-- name: date key with an interval
SELECT f.id FROM visits f JOIN calendar d ON f.day = d.day + INTERVAL '1' DAY WHERE d.month = 2;
-- name: date key from a timestamp
SELECT f.id FROM visits f JOIN calendar d ON f.day = CAST(d.start AS DATE) WHERE d.month = 2;
-- name: date key from a string
SELECT f.id FROM visits f JOIN ports d ON f.day = to_date(concat('2024-01-0', d.port)) WHERE d.country = 'DE';
-- name: trunc of the fact's day
SELECT f.id FROM visits f JOIN calendar d ON trunc(f.day, 'MM') = d.day WHERE d.label = 'd31';
-- name: year and month of the fact's day
SELECT f.id FROM visits f JOIN calendar d ON year(f.day) = d.year AND month(f.day) = d.month WHERE d.label = 'd31';
-- name: string key in upper case
SELECT f.id FROM notes f JOIN labels d ON f.tag = lower(d.tag) WHERE d.grp = 'g1';
-- name: string fact key in upper case
SELECT f.id FROM notes f JOIN labels d ON upper(f.tag) = upper(d.tag) WHERE d.grp = 'g1';
-- name: concatenated key
SELECT f.id FROM notes f JOIN labels d ON f.tag = concat('t', d.n) WHERE d.grp = 'g1';
-- name: substring of the key
SELECT f.id FROM notes f JOIN labels d ON f.tag = substring(d.tag, 1, 2) WHERE d.grp = 'g1';
-- name: coalesce of the key
SELECT f.landed FROM landings f JOIN ports d ON f.port = coalesce(d.port, -1) WHERE d.country = 'DE';
-- name: CASE key
SELECT f.landed FROM landings f JOIN ports d ON f.port = CASE WHEN d.open THEN d.port ELSE 0 END WHERE d.country = 'DE';
-- name: computed key in a CTE
WITH d AS (SELECT port * 2 AS q, country FROM ports) SELECT f.landed FROM landings f JOIN d ON f.port = d.q WHERE d.country = 'DE';
-- name: one side of a CTE's self-join filtered
WITH v AS (SELECT port, landed, tons FROM landings) SELECT a.landed, b.landed FROM v a JOIN v b ON a.port = b.port WHERE b.tons = 60 AND b.landed < 10;
-- name: self-join, one side filtered
SELECT a.landed FROM landings a JOIN landings b ON a.port = b.port WHERE b.tons = 60 AND b.landed < 10;
-- name: self-join, aggregate of the other side
SELECT a.landed FROM landings a JOIN (SELECT port, max(landed) AS m FROM landings WHERE tons = 60 GROUP BY port) b ON a.port = b.port WHERE b.m < 20;
-- name: two dimensions
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port JOIN closed c ON f.port = c.port WHERE d.country = 'US' AND c.why = 'ice';
-- name: a dimension behind a dimension
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port JOIN closed c ON d.port = c.port WHERE c.why = 'storm';
-- name: OR of two dimensions' columns
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE (d.country = 'DE' AND f.tons > 10) OR (d.country = 'NL' AND f.tons > 20);
-- name: two partition columns
SELECT f.id FROM trips f JOIN calendar d ON f.year = d.year - 1 AND f.month = d.month WHERE d.day = DATE '2024-01-31';
-- name: aggregate above
SELECT d.region, sum(f.tons) FROM landings f JOIN ports d ON f.port = d.port WHERE d.country <> 'US' GROUP BY d.region HAVING sum(f.tons) > 5;
-- name: fact grouped below
SELECT d.region, f.n FROM (SELECT port, sum(tons) AS n FROM landings GROUP BY port) f JOIN ports d ON f.port = d.port WHERE d.country = 'DE';
-- name: window below
SELECT f.landed FROM (SELECT landed, port, row_number() OVER (PARTITION BY port ORDER BY landed) AS r FROM landings) f JOIN ports d ON f.port = d.port WHERE d.country = 'DE' AND f.r = 1;
-- name: ORDER BY and LIMIT above
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country = 'DE' ORDER BY f.landed LIMIT 3;
-- name: between two columns of the dimension
SELECT f.landed FROM landings f JOIN ports d ON f.port BETWEEN d.port AND d.port + 1 WHERE d.country = 'DE';
-- name: cross join with WHERE
SELECT f.landed FROM landings f CROSS JOIN ports d WHERE f.port = d.port AND d.country = 'DE';
-- name: fact right of a left join
SELECT d.port, f.landed FROM ports d LEFT JOIN landings f ON f.port = d.port WHERE d.country = 'DE';
-- name: fact right of an anti-join
SELECT d.port FROM ports d LEFT ANTI JOIN landings f ON f.port = d.port AND f.tons = 60 WHERE d.country = 'DE';
-- name: latest partition by =
SELECT f.landed FROM landings f WHERE f.port = (SELECT max(port) FROM landings);
-- name: latest partition by IN
SELECT f.landed FROM landings f WHERE f.port IN (SELECT max(port) FROM landings);
-- name: latest partition by a join
SELECT f.landed FROM landings f JOIN (SELECT max(port) AS m FROM landings) x ON f.port = x.m;
-- name: latest partition in a CTE
WITH x AS (SELECT max(port) AS m FROM landings) SELECT f.landed FROM landings f JOIN x ON f.port = x.m;
-- name: latest partition by a cross join
WITH x AS (SELECT max(port) AS m FROM landings) SELECT f.landed FROM landings f, x WHERE f.port = x.m;
-- name: latest partition of a dimension
SELECT f.landed FROM landings f JOIN (SELECT max(port) AS m FROM ports) x ON f.port = x.m;
-- name: latest partition through two joins
SELECT f.landed, d.country FROM landings f JOIN ports d ON f.port = d.port JOIN (SELECT max(port) AS m FROM berths) x ON f.port = x.m;
