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
-- name: both keys computed over derived tables
SELECT f.landed FROM (SELECT landed, port AS p FROM landings) f JOIN (SELECT port AS k, country FROM ports) d ON f.p + 1 = d.k + 1 WHERE d.country = 'DE';
-- name: fact key minus one over a derived table
SELECT f.landed FROM (SELECT landed, port AS p, kind FROM landings WHERE kind < 3) f JOIN ports d ON f.p - 1 = d.port WHERE d.country = 'DE';
-- name: fact key computed inside a derived table
SELECT f.landed FROM (SELECT landed, port + 1 AS p FROM landings) f JOIN ports d ON f.p = d.port WHERE d.country = 'DE';
-- name: fact key cast inside a derived table
SELECT f.landed FROM (SELECT landed, CAST(port AS BIGINT) AS p FROM landings) f JOIN crops d ON f.p = d.id WHERE d.prod > 60;
-- name: fact key cast to string in a CTE
WITH f AS (SELECT landed, CAST(port AS STRING) AS p FROM landings) SELECT f.landed FROM f JOIN crops d ON f.p = d.name WHERE d.prod > 60;
-- name: computed key in a derived dimension
SELECT f.landed FROM landings f JOIN (SELECT port + 1 AS q FROM ports WHERE country = 'DE') d ON f.port = d.q;
-- name: computed key in a CTE dimension with filter inside
WITH d AS (SELECT port * 2 AS q FROM ports WHERE country = 'DE') SELECT f.landed FROM landings f JOIN d ON f.port = d.q;
-- name: cast key in a CTE dimension
WITH d AS (SELECT CAST(id AS INT) AS q FROM crops WHERE prod > 60) SELECT f.landed FROM landings f JOIN d ON f.port = d.q;
-- name: key of two dimension columns
SELECT f.id FROM harvest f JOIN crops d ON f.one = d.one + d.three WHERE d.prod > 50;
-- name: key of two fact columns
SELECT f.id FROM harvest f JOIN crops d ON f.one + f.three = d.one + d.three WHERE d.prod > 50;
-- name: year times hundred plus month
SELECT f.id FROM trips f JOIN calendar d ON f.year * 100 + f.month = d.year * 100 + d.month WHERE d.day = DATE '2024-01-31';
-- name: port from year and month
SELECT f.landed FROM landings f JOIN calendar d ON f.port = d.month * 2 + 1 WHERE d.label = 'd31';
-- name: port from date parts
SELECT f.landed FROM landings f JOIN calendar d ON f.port = year(d.day) * 100 + month(d.day) - 202400 WHERE d.label = 'd31';
-- name: port from date_format
SELECT f.landed FROM landings f JOIN calendar d ON f.port = CAST(date_format(d.day, 'dd') AS INT) WHERE d.label = 'd5';
-- name: port cast from substr
SELECT f.landed FROM landings f JOIN ports d ON f.port = CAST(substr(d.region, 2, 1) AS INT) WHERE d.country = 'DE';
-- name: port from a string column
SELECT f.landed FROM landings f JOIN ports d ON f.port = int(d.code) WHERE d.country = 'NL';
-- name: string fact key from concat
SELECT f.id FROM notes f JOIN labels d ON f.tag = concat('t', CAST(d.n AS STRING)) WHERE d.grp = 'g2';
-- name: string fact key from lpad
SELECT f.id FROM notes f JOIN labels d ON f.tag = concat('t', lpad(d.n, 1, '0')) WHERE d.grp = 'g2';
-- name: substr of the fact key
SELECT f.id FROM notes f JOIN labels d ON substr(f.tag, 2) = CAST(d.n AS STRING) WHERE d.grp = 'g2';
-- name: cast of the string fact key
SELECT f.id FROM harvest f JOIN crops d ON CAST(f.name AS INT) = d.one WHERE d.prod > 60;
-- name: date fact from cast string
SELECT f.id FROM visits f JOIN calendar d ON f.day = CAST(concat('2024-01-', lpad(CAST(day(d.day) AS STRING), 2, '0')) AS DATE) WHERE d.label = 'd5';
-- name: date fact from date_sub
SELECT f.id FROM visits f JOIN calendar d ON date_sub(f.day, 1) = d.day WHERE d.label = 'd5';
-- name: date fact against timestamp
SELECT f.id FROM visits f JOIN calendar d ON f.day = d.start WHERE d.label = 'd5';
-- name: date fact as string
SELECT f.id FROM visits f JOIN calendar d ON date_format(f.day, 'yyyy-MM-dd') = CAST(d.day AS STRING) WHERE d.label = 'd5';
-- name: date fact by make_date
SELECT f.id FROM visits f JOIN calendar d ON f.day = make_date(d.year, d.month, 5) WHERE d.label = 'd5';
-- name: date fact by last_day
SELECT f.id FROM visits f JOIN calendar d ON f.day = last_day(d.day) WHERE d.label = 'd5';
-- name: date fact by trunc
SELECT f.id FROM visits f JOIN calendar d ON f.day = trunc(d.day, 'MM') WHERE d.label = 'd5';
-- name: date fact by add_months
SELECT f.id FROM visits f JOIN calendar d ON f.day = add_months(d.day, -1) WHERE d.label = 'd40';
-- name: date fact minus days of the dimension
SELECT f.id FROM visits f JOIN calendar d ON f.day = date_add(d.day, -d.month) WHERE d.label = 'd40';
-- name: bigint fact minus
SELECT f.n FROM levels f JOIN crops d ON f.level - 2 = d.id WHERE d.prod > 60;
-- name: bigint fact times
SELECT f.n FROM levels f JOIN crops d ON f.level * 2 = d.id WHERE d.prod > 60;
-- name: bigint fact plus bigint key
SELECT f.n FROM levels f JOIN crops d ON f.level = d.id + d.prod WHERE d.prod < 30;
-- name: bigint against int expression
SELECT f.n FROM levels f JOIN ports d ON f.level = d.port + 1 WHERE d.country = 'DE';
-- name: bigint div
SELECT f.n FROM levels f JOIN crops d ON f.level div 2 = d.id WHERE d.prod > 60;
-- name: int mod
SELECT f.landed FROM landings f JOIN ports d ON f.port % 10 = d.port WHERE d.country = 'DE';
-- name: decimal against bigint
SELECT f.n FROM prices f JOIN crops d ON f.price = d.id WHERE d.prod > 60;
-- name: decimal computed
SELECT f.n FROM prices f JOIN crops d ON f.price + 1 = d.one WHERE d.prod > 60;
-- name: smallint plus
SELECT f.id FROM harvest f JOIN crops d ON f.three + 1 = d.one WHERE d.prod > 60;
-- name: tinyint cast
SELECT f.id FROM harvest f JOIN crops d ON CAST(f.two AS INT) = d.one WHERE d.prod > 60;
-- name: coalesce on both sides
SELECT f.landed FROM landings f JOIN ports d ON coalesce(f.port, -1) = coalesce(d.port, -1) WHERE d.country = 'DE';
-- name: null-safe
SELECT f.landed FROM landings f JOIN ports d ON f.port <=> d.port WHERE d.country = 'DE';
-- name: named_struct of two partition columns
SELECT f.id FROM trips f JOIN calendar d ON named_struct('y', f.year + 1, 'm', f.month) = named_struct('y', d.year, 'm', d.month) WHERE d.label = 'd5';
-- name: array of two keys
SELECT f.id FROM trips f JOIN calendar d ON array(f.year + 1, f.month) = array(d.year, d.month) WHERE d.label = 'd5';
-- name: nested struct field key
SELECT f.landed FROM landings f JOIN (SELECT named_struct('a', named_struct('k', port)) AS s, country FROM ports) d ON f.port = d.s.a.k WHERE d.country = 'DE';
-- name: struct field through derived
SELECT f.landed FROM landings f JOIN (SELECT info, country FROM ports) d ON f.port = d.info.code WHERE d.info.name > 'n5';
-- name: struct field of CTE
WITH d AS (SELECT info.code AS k, country FROM ports) SELECT f.landed FROM landings f JOIN d ON f.port = d.k WHERE d.country = 'DE';
-- name: struct field unqualified
SELECT f.landed FROM landings f JOIN ports d ON f.port = info.code WHERE d.country = 'DE';
-- name: CTE self-join three
WITH v AS (SELECT port, landed, tons FROM landings WHERE kind = 1) SELECT a.landed FROM v a JOIN v b ON a.port = b.port JOIN v c ON b.port = c.port WHERE c.tons = 60;
-- name: CTE twice with a dimension each
WITH v AS (SELECT port, landed FROM landings) SELECT a.landed FROM v a JOIN ports d ON a.port = d.port WHERE d.country = 'DE' UNION ALL SELECT b.landed FROM v b JOIN ports e ON b.port = e.port WHERE e.country = 'NL';
-- name: CTE twice, one unfiltered
WITH v AS (SELECT port, landed FROM landings) SELECT a.landed FROM v a JOIN ports d ON a.port = d.port WHERE d.country = 'DE' UNION ALL SELECT b.landed FROM v b WHERE b.landed > 1000;
-- name: CTE join of fact and dimension self-joined
WITH v AS (SELECT f.port, f.landed, d.country FROM landings f JOIN ports d ON f.port = d.port WHERE d.size > 50) SELECT a.landed, b.landed FROM v a JOIN v b ON a.port = b.port AND a.country = 'US';
-- name: aggregated CTE joined with itself
WITH v AS (SELECT port, sum(tons) AS t FROM landings GROUP BY port) SELECT a.port FROM v a JOIN v b ON a.port = b.port WHERE b.t > 100;
-- name: aggregated CTE with dimension inside
WITH v AS (SELECT f.port, sum(f.tons) AS t FROM landings f JOIN ports d ON f.port = d.port WHERE d.country = 'DE' GROUP BY f.port) SELECT a.port, b.t FROM v a JOIN v b ON a.port = b.port - 1;
-- name: dimension an aggregate
SELECT f.landed FROM landings f JOIN (SELECT port, max(size) AS m FROM ports GROUP BY port) d ON f.port = d.port WHERE d.m > 60;
-- name: dimension an aggregate with HAVING
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports GROUP BY port HAVING max(size) > 60) d ON f.port = d.port;
-- name: dimension an avg with HAVING
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports GROUP BY port HAVING avg(size) > 60) d ON f.port = d.port;
-- name: dimension distinct
SELECT f.landed FROM landings f JOIN (SELECT DISTINCT port FROM ports WHERE country = 'DE') d ON f.port = d.port;
-- name: dimension top by order
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports WHERE country = 'US' ORDER BY port LIMIT 2) d ON f.port = d.port;
-- name: dimension with rank
SELECT f.landed FROM landings f JOIN (SELECT port, rank() OVER (ORDER BY size DESC) AS r FROM ports) d ON f.port = d.port WHERE d.r <= 2;
-- name: dimension with row_number
SELECT f.landed FROM landings f JOIN (SELECT port, country, row_number() OVER (PARTITION BY country ORDER BY port) AS r FROM ports) d ON f.port = d.port WHERE d.r = 1;
-- name: dimension with row_number and another filter
SELECT f.landed FROM landings f JOIN (SELECT port, country, row_number() OVER (PARTITION BY port ORDER BY size) AS r FROM ports) d ON f.port = d.port WHERE d.r = 1 AND d.country = 'DE';
-- name: dimension a union
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports WHERE country = 'DE' UNION SELECT port FROM closed WHERE port < 4) d ON f.port = d.port;
-- name: dimension a union all in CTE
WITH d AS (SELECT port, country AS c FROM ports UNION ALL SELECT port, why FROM closed) SELECT f.landed FROM landings f JOIN d ON f.port = d.port WHERE d.c = 'DE';
-- name: dimension an intersect
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports WHERE country <> 'NL' INTERSECT SELECT port FROM closed WHERE why = 'storm') d ON f.port = d.port;
-- name: dimension an except
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports WHERE country <> 'NL' EXCEPT SELECT port FROM closed WHERE why = 'storm') d ON f.port = d.port;
-- name: dimension left joined
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port LEFT JOIN closed c ON d.port = c.port WHERE d.country = 'DE';
-- name: dimension with left join inside
SELECT f.landed FROM landings f JOIN (SELECT d.port, c.why FROM ports d LEFT JOIN closed c ON d.port = c.port WHERE d.country = 'DE') x ON f.port = x.port;
-- name: dimension a join
SELECT f.landed FROM landings f JOIN (SELECT d.port FROM ports d JOIN closed c ON d.port = c.port WHERE c.why = 'storm' AND d.size > 30) x ON f.port = x.port;
-- name: unnamed VALUES
SELECT f.landed FROM landings f JOIN (VALUES (1), (2)) ON f.port = col1;
-- name: named VALUES
SELECT f.landed FROM landings f JOIN (VALUES (1, 'a'), (2, 'b')) AS d(port, x) ON f.port = d.port WHERE d.x = 'a';
-- name: VALUES in a CTE, again
WITH d AS (SELECT * FROM VALUES (1), (2) AS t(k)) SELECT f.landed FROM landings f JOIN d ON f.port = d.k;
-- name: VALUES CTE with columns
WITH d(k) AS (VALUES (1), (2)) SELECT f.landed FROM landings f JOIN d ON f.port = d.k;
-- name: explode of a literal
SELECT f.landed FROM landings f JOIN (SELECT explode(array(1, 2)) AS port) d ON f.port = d.port;
-- name: explode of split
SELECT f.landed FROM landings f JOIN (SELECT CAST(x AS INT) AS port FROM (SELECT explode(split('1,2', ',')) AS x)) d ON f.port = d.port;
-- name: explode of tags
SELECT f.id FROM notes f JOIN (SELECT explode(tags) AS tag FROM ports WHERE country = 'DE') d ON f.tag = d.tag;
-- name: lateral view dimension
SELECT f.id FROM notes f JOIN (SELECT t.tag FROM ports LATERAL VIEW explode(tags) t AS tag WHERE country = 'DE') d ON f.tag = d.tag;
-- name: range with filter
SELECT f.landed FROM landings f JOIN range(10) d ON f.port = d.id WHERE d.id > 7;
-- name: sequence
SELECT f.landed FROM landings f JOIN (SELECT explode(sequence(1, 2)) AS k) d ON f.port = d.k;
-- name: right outer
SELECT d.country, f.landed FROM landings f RIGHT OUTER JOIN ports d ON f.port = d.port WHERE d.country = 'DE';
-- name: left outer dim first
SELECT d.country, f.landed FROM ports d LEFT OUTER JOIN landings f ON f.port = d.port AND f.kind = 1 WHERE d.country = 'DE';
-- name: full made left
SELECT d.country, f.landed FROM ports d FULL OUTER JOIN landings f ON f.port = d.port WHERE d.country = 'DE';
-- name: full made inner
SELECT d.country, f.landed FROM ports d FULL OUTER JOIN landings f ON f.port = d.port WHERE d.country = 'DE' AND f.landed > 0;
-- name: no pruning: anti
SELECT f.landed FROM landings f LEFT ANTI JOIN ports d ON f.port = d.port AND d.country = 'DE';
-- name: semi with derived
SELECT f.landed FROM landings f LEFT SEMI JOIN (SELECT port FROM ports WHERE country = 'DE') d ON f.port = d.port;
-- name: exists
SELECT f.landed FROM landings f WHERE EXISTS (SELECT 1 FROM ports d WHERE d.port = f.port AND d.country = 'DE');
-- name: exists with computed key
SELECT f.landed FROM landings f WHERE EXISTS (SELECT 1 FROM ports d WHERE d.port + 1 = f.port AND d.country = 'DE');
-- name: in with computed key
SELECT f.landed FROM landings f WHERE f.port IN (SELECT d.port + 1 FROM ports d WHERE d.country = 'DE');
-- name: in with fact expression
SELECT f.landed FROM landings f WHERE f.port + 1 IN (SELECT d.port FROM ports d WHERE d.country = 'DE');
-- name: in of an aggregate
SELECT f.landed FROM landings f WHERE f.port IN (SELECT max(d.port) FROM ports d GROUP BY d.country HAVING count(*) > 2);
-- name: in under view
SELECT f.landed FROM landings f WHERE f.port IN (SELECT port FROM (SELECT * FROM ports WHERE country = 'DE'));
-- name: no pruning: in or
SELECT f.landed FROM landings f WHERE f.port IN (SELECT d.port FROM ports d WHERE d.country = 'DE') OR f.landed < 5;
-- name: scalar filter on dimension, avg
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size > (SELECT avg(size) + 10 FROM ports);
-- name: scalar filter on dimension, max
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size = (SELECT max(size) FROM ports WHERE country = 'DE');
-- name: scalar filter, correlated
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size = (SELECT max(p.size) FROM ports p WHERE p.country = d.country);
-- name: scalar filter, correlated avg
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size > (SELECT avg(p.size) FROM ports p WHERE p.country = d.country);
-- name: exists on the dimension
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE EXISTS (SELECT 1 FROM closed c WHERE c.port = d.port AND c.why = 'storm');
-- name: three-way star
SELECT f.id FROM harvest f JOIN crops d ON f.one = d.one JOIN crops e ON f.three = e.three WHERE d.prod > 60 AND e.prod > 50;
-- name: snowflake
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port JOIN labels l ON d.size = l.n * 10 WHERE l.grp = 'g4';
-- name: union of facts
SELECT u.n FROM (SELECT port, landed AS n FROM landings UNION ALL SELECT CAST(level AS INT), n FROM levels) u JOIN ports d ON u.port = d.port WHERE d.country = 'DE';
-- name: union of facts same type
SELECT u.n FROM (SELECT port, landed AS n FROM landings WHERE kind = 1 UNION ALL SELECT port, berth FROM berths) u JOIN ports d ON u.port = d.port WHERE d.country = 'DE';
-- name: union with a flat table
SELECT u.n FROM (SELECT port, landed AS n FROM landings UNION ALL SELECT port, landed FROM landings_flat) u JOIN ports d ON u.port = d.port WHERE d.country = 'DE';
-- name: fact distinct
SELECT u.landed FROM (SELECT DISTINCT port, landed FROM landings) u JOIN ports d ON u.port = d.port WHERE d.country = 'DE';
-- name: fact aggregated below and dimension grouped
SELECT u.s, d.c FROM (SELECT port, sum(tons) s FROM landings GROUP BY port) u JOIN (SELECT port, count(*) c FROM ports WHERE country = 'DE' GROUP BY port) d ON u.port = d.port;
-- name: fact window partition by key
SELECT u.landed FROM (SELECT landed, port, sum(tons) OVER (PARTITION BY port) AS s FROM landings) u JOIN ports d ON u.port = d.port WHERE d.country = 'DE';
-- name: no pruning: limit
SELECT u.landed FROM (SELECT landed, port FROM landings ORDER BY landed LIMIT 50) u JOIN ports d ON u.port = d.port WHERE d.country = 'DE';
-- name: nested subqueries in parentheses
SELECT f.landed FROM ((landings f JOIN ports d ON f.port = d.port) JOIN closed c ON c.port = d.port) WHERE c.why = 'storm';
-- name: parenthesised join on the right
SELECT f.landed FROM landings f JOIN (ports d JOIN closed c ON c.port = d.port) ON f.port = d.port WHERE c.why = 'storm';
-- name: alias of parenthesised join
SELECT x.landed FROM (SELECT f.* FROM landings f JOIN closed c ON f.port = c.port) x JOIN ports d ON x.port = d.port WHERE d.country = 'DE';
-- name: two unqualified columns
SELECT landed FROM landings JOIN (SELECT port AS k, country FROM ports) ON port = k WHERE country = 'DE';
-- name: unaliased derived dimension
SELECT f.landed FROM landings f JOIN (SELECT port AS k FROM ports WHERE country = 'DE') ON f.port = k;
-- name: using with derived
SELECT landed FROM landings JOIN (SELECT port FROM ports WHERE country = 'DE') USING (port);
-- name: fact on the right of using
SELECT landed FROM (SELECT port FROM ports WHERE country = 'DE') d JOIN landings USING (port);
-- name: lateral subquery
SELECT d.country, x.landed FROM ports d, LATERAL (SELECT f.landed FROM landings f WHERE f.port = d.port) x WHERE d.country = 'DE';
-- name: lateral dimension
SELECT f.landed, x.size FROM landings f, LATERAL (SELECT d.size FROM ports d WHERE f.port = d.port AND d.country = 'DE') x;
-- name: correlated scalar over the fact
SELECT d.port, (SELECT sum(f.tons) FROM landings f WHERE f.port = d.port) AS s FROM ports d WHERE d.country = 'DE';
-- name: filter on fact key carried
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.port BETWEEN 2 AND 4;
-- name: filter on the sum of both
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE f.port + d.port > 12;
-- name: OR in ON
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port AND (d.country = 'DE' OR d.size > 70);
-- name: OR of key pairs
SELECT f.landed FROM landings f JOIN ports d ON (f.port = d.port AND d.country = 'DE') OR (f.port = d.port AND d.country = 'NL');
-- name: having above
SELECT f.port, count(*) FROM landings f JOIN ports d ON f.port = d.port AND d.country = 'DE' GROUP BY f.port HAVING count(*) > 1;
-- name: broadcast hint
SELECT /*+ BROADCAST(d) */ f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country = 'DE';
-- name: merge hint
SELECT /*+ MERGE(d) */ f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country = 'DE';
-- name: three keys in one using
SELECT f.id FROM trips f JOIN calendar d USING (year, month) WHERE d.label = 'd5';
-- name: upper both
SELECT f.id FROM notes f JOIN labels d ON upper(f.tag) = upper(d.tag) AND length(d.grp) = 2 AND d.n BETWEEN 3 AND 4;
-- name: trim key
SELECT f.id FROM notes f JOIN labels d ON f.tag = trim(d.tag) WHERE d.grp = 'g1';
-- name: nested CTEs
WITH a AS (SELECT port, country FROM ports WHERE size > 20), b AS (SELECT port FROM a WHERE country = 'DE') SELECT f.landed FROM landings f JOIN b ON f.port = b.port;
-- name: nested CTEs over the fact
WITH a AS (SELECT port, landed FROM landings), b AS (SELECT port AS p, landed FROM a WHERE landed > 3) SELECT b.landed FROM b JOIN ports d ON b.p = d.port WHERE d.country = 'DE';
-- name: date of a struct
SELECT f.id FROM visits f JOIN (SELECT struct(day, label) AS s FROM calendar) d ON f.day = d.s.day WHERE d.s.label = 'd5';
-- name: map value key
SELECT f.id FROM notes f JOIN (SELECT map('k', tag) AS m, grp FROM labels) d ON f.tag = d.m['k'] WHERE d.grp = 'g1';
-- name: array element key
SELECT f.id FROM notes f JOIN ports d ON f.tag = d.tags[0] WHERE d.country = 'DE';
-- name: element_at key
SELECT f.id FROM notes f JOIN ports d ON f.tag = element_at(d.tags, 1) WHERE d.country = 'DE';
-- name: split key
SELECT f.id FROM notes f JOIN labels d ON f.tag = split(concat(d.tag, '-', d.grp), '-')[0] WHERE d.grp = 'g1';
-- name: greatest key
SELECT f.landed FROM landings f JOIN ports d ON f.port = greatest(d.port, 5) WHERE d.country = 'DE';
-- name: if key
SELECT f.landed FROM landings f JOIN ports d ON f.port = if(d.open, d.port, d.port + 1) WHERE d.country = 'DE';
-- name: nvl key
SELECT f.landed FROM landings f JOIN ports d ON f.port = nvl(d.port, 0) WHERE d.country = 'DE';
-- name: abs key
SELECT f.landed FROM landings f JOIN ports d ON f.port = abs(d.port - 9) WHERE d.country = 'DE';
-- name: floor key
SELECT f.n FROM levels f JOIN ports d ON f.level = floor(d.size / 10) WHERE d.country = 'DE';
-- name: length key
SELECT f.landed FROM landings f JOIN ports d ON f.port = length(d.region) WHERE d.country = 'DE';
-- name: day of month key
SELECT f.landed FROM landings f JOIN calendar d ON f.port = day(d.day) WHERE d.label IN ('d3', 'd4');
-- name: datediff key
SELECT f.landed FROM landings f JOIN calendar d ON f.port = datediff(d.day, DATE '2024-01-01') WHERE d.label IN ('d3', 'd4');
-- name: round key
SELECT f.landed FROM landings f JOIN ports d ON f.port = CAST(round(d.size / 10) AS INT) WHERE d.country = 'DE';
-- name: key from info struct with cast
SELECT f.n FROM levels f JOIN ports d ON f.level = CAST(d.info.code AS BIGINT) WHERE d.info.name LIKE 'n%' AND d.country = 'DE';
-- name: negative key
SELECT f.landed FROM landings f JOIN ports d ON -f.port = -d.port WHERE d.country = 'DE';
-- name: fact key on both sides of an inequality
SELECT f.landed FROM landings f JOIN ports d ON f.port < d.port WHERE d.country = 'NL';
-- name: filter: lower(d.country) = 'de'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE lower(d.country) = 'de';
-- name: filter: trim(d.country) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE trim(d.country) = 'DE';
-- name: filter: length(d.region) = 2 AND d.size > 10
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE length(d.region) = 2 AND d.size > 10;
-- name: filter: concat(d.country, '-', d.region) = 'DE-r1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE concat(d.country, '-', d.region) = 'DE-r1';
-- name: filter: d.country || d.region = 'DEr1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country || d.region = 'DEr1';
-- name: filter: concat_ws('/', d.country, d.region) = 'DE/r1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE concat_ws('/', d.country, d.region) = 'DE/r1';
-- name: filter: substr(d.country, 1, 1) = 'D'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE substr(d.country, 1, 1) = 'D';
-- name: filter: left(d.country, 1) = 'D'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE left(d.country, 1) = 'D';
-- name: filter: right(d.country, 1) = 'E'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE right(d.country, 1) = 'E';
-- name: filter: instr(d.country, 'E') = 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE instr(d.country, 'E') = 2;
-- name: filter: locate('E', d.country) > 0
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE locate('E', d.country) > 0;
-- name: filter: replace(d.country, 'D', 'X') = 'XE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE replace(d.country, 'D', 'X') = 'XE';
-- name: filter: translate(d.country, 'DE', 'AB') = 'AB'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE translate(d.country, 'DE', 'AB') = 'AB';
-- name: filter: lpad(d.code, 4, '0') = '0044'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE lpad(d.code, 4, '0') = '0044';
-- name: filter: rpad(d.code, 4, 'x') = '44xx'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE rpad(d.code, 4, 'x') = '44xx';
-- name: filter: reverse(d.country) = 'ED'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE reverse(d.country) = 'ED';
-- name: filter: initcap(d.country) = 'De'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE initcap(d.country) = 'De';
-- name: filter: split(d.region, '')[1] = '1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE split(d.region, '')[1] = '1';
-- name: filter: split_part(d.country, 'E', 1) = 'D'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE split_part(d.country, 'E', 1) = 'D';
-- name: filter: regexp_extract(d.region, '([a-z])([0-9])', 2) = '1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE regexp_extract(d.region, '([a-z])([0-9])', 2) = '1';
-- name: filter: regexp_replace(d.region, '[0-9]', '') = 'r' AND d.port > 5
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE regexp_replace(d.region, '[0-9]', '') = 'r' AND d.port > 5;
-- name: filter: regexp_like(d.country, '^D')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE regexp_like(d.country, '^D');
-- name: filter: d.country RLIKE '^D.*'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country RLIKE '^D.*';
-- name: filter: d.country REGEXP 'E$'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country REGEXP 'E$';
-- name: filter: d.country ILIKE 'de'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country ILIKE 'de';
-- name: filter: d.country NOT LIKE 'N%' AND d.country NOT LIKE 'U%'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country NOT LIKE 'N%' AND d.country NOT LIKE 'U%';
-- name: filter: d.country LIKE ANY ('D%', 'X%')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country LIKE ANY ('D%', 'X%');
-- name: filter: d.country NOT LIKE ALL ('N%', 'U%')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country NOT LIKE ALL ('N%', 'U%');
-- name: filter: d.country IN ('DE', 'FR')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country IN ('DE', 'FR');
-- name: filter: d.country NOT IN ('NL', 'US')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country NOT IN ('NL', 'US');
-- name: filter: d.size BETWEEN 10 + 10 AND 20 + 20
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size BETWEEN 10 + 10 AND 20 + 20;
-- name: filter: d.size NOT BETWEEN 20 AND 80
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size NOT BETWEEN 20 AND 80;
-- name: filter: d.size BETWEEN d.port * 5 AND 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size BETWEEN d.port * 5 AND 40;
-- name: filter: d.country <=> 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country <=> 'DE';
-- name: filter: NOT (d.country <=> 'NL')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE NOT (d.country <=> 'NL');
-- name: filter: contains(d.country, 'E')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE contains(d.country, 'E');
-- name: filter: startswith(d.country, 'D')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE startswith(d.country, 'D');
-- name: filter: endswith(d.country, 'E')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE endswith(d.country, 'E');
-- name: filter: ascii(d.country) = 68
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE ascii(d.country) = 68;
-- name: filter: levenshtein(d.country, 'DE') = 0
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE levenshtein(d.country, 'DE') = 0;
-- name: filter: soundex(d.country) = 'D000'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE soundex(d.country) = 'D000';
-- name: filter: md5(d.country) = md5('DE')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE md5(d.country) = md5('DE');
-- name: filter: sha2(d.country, 256) = sha2('DE', 256)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE sha2(d.country, 256) = sha2('DE', 256);
-- name: filter: crc32(d.country) = crc32('DE')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE crc32(d.country) = crc32('DE');
-- name: filter: base64(encode(d.country, 'UTF-8')) = 'REU='
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE base64(encode(d.country, 'UTF-8')) = 'REU=';
-- name: filter: hex(d.country) = '4445'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE hex(d.country) = '4445';
-- name: filter: d.since >= DATE '2021-01-01' AND d.since < DATE '2021-06-01'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since >= DATE '2021-01-01' AND d.since < DATE '2021-06-01';
-- name: filter: d.since = '2020-07-19'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since = '2020-07-19';
-- name: filter: d.since BETWEEN '2020-01-01' AND '2020-12-31'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since BETWEEN '2020-01-01' AND '2020-12-31';
-- name: filter: d.since > date_sub(DATE '2021-06-01', 30)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since > date_sub(DATE '2021-06-01', 30);
-- name: filter: date_add(d.since, 10) > DATE '2021-06-01'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE date_add(d.since, 10) > DATE '2021-06-01';
-- name: filter: d.since + INTERVAL 10 DAYS > DATE '2021-06-01'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since + INTERVAL 10 DAYS > DATE '2021-06-01';
-- name: filter: d.since + INTERVAL '1' MONTH > DATE '2021-06-01'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since + INTERVAL '1' MONTH > DATE '2021-06-01';
-- name: filter: datediff(DATE '2022-12-31', d.since) < 300
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE datediff(DATE '2022-12-31', d.since) < 300;
-- name: filter: months_between(DATE '2022-12-31', d.since) < 10
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE months_between(DATE '2022-12-31', d.since) < 10;
-- name: filter: last_day(d.since) = DATE '2020-07-31'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE last_day(d.since) = DATE '2020-07-31';
-- name: filter: next_day(d.since, 'MON') = DATE '2020-07-20'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE next_day(d.since, 'MON') = DATE '2020-07-20';
-- name: filter: trunc(d.since, 'YEAR') = DATE '2021-01-01'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE trunc(d.since, 'YEAR') = DATE '2021-01-01';
-- name: filter: date_trunc('MONTH', d.since) = TIMESTAMP '2020-07-01 00:00:00'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE date_trunc('MONTH', d.since) = TIMESTAMP '2020-07-01 00:00:00';
-- name: filter: month(d.since) = 7
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE month(d.since) = 7;
-- name: filter: dayofweek(d.since) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE dayofweek(d.since) = 1;
-- name: filter: dayofyear(d.since) > 200
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE dayofyear(d.since) > 200;
-- name: filter: weekofyear(d.since) = 29
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE weekofyear(d.since) = 29;
-- name: filter: quarter(d.since) = 3
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE quarter(d.since) = 3;
-- name: filter: extract(YEAR FROM d.since) = 2020
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE extract(YEAR FROM d.since) = 2020;
-- name: filter: date_part('MONTH', d.since) = 7
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE date_part('MONTH', d.since) = 7;
-- name: filter: date_format(d.since, 'yyyy-MM') = '2020-07'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE date_format(d.since, 'yyyy-MM') = '2020-07';
-- name: filter: CAST(d.since AS STRING) = '2020-07-19'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CAST(d.since AS STRING) = '2020-07-19';
-- name: filter: CAST(d.since AS TIMESTAMP) > TIMESTAMP '2021-01-01 00:00:00'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CAST(d.since AS TIMESTAMP) > TIMESTAMP '2021-01-01 00:00:00';
-- name: filter: unix_timestamp(CAST(d.since AS TIMESTAMP)) > 1600000000
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE unix_timestamp(CAST(d.since AS TIMESTAMP)) > 1600000000;
-- name: filter: from_unixtime(d.size * 1000000, 'yyyy') = '1971'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE from_unixtime(d.size * 1000000, 'yyyy') = '1971';
-- name: filter: to_date(from_unixtime(d.size * 1000000)) = DATE '1970-07-26'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_date(from_unixtime(d.size * 1000000)) = DATE '1970-07-26';
-- name: filter: year(d.since) * 100 + month(d.since) = 202007
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE year(d.since) * 100 + month(d.since) = 202007;
-- name: filter: make_date(year(d.since), 1, 1) = DATE '2021-01-01'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE make_date(year(d.since), 1, 1) = DATE '2021-01-01';
-- name: filter: d.since - DATE '2020-01-01' > INTERVAL '500' DAY
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since - DATE '2020-01-01' > INTERVAL '500' DAY;
-- name: filter: current_date() > d.since AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE current_date() > d.since AND d.size > 60;
-- name: filter: d.info.code = 4
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.info.code = 4;
-- name: filter: d.info.name IN ('n4', 'n5')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.info.name IN ('n4', 'n5');
-- name: filter: d.info.code + 1 > 7
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.info.code + 1 > 7;
-- name: filter: d.info = named_struct('code', 4, 'name', 'n4')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.info = named_struct('code', 4, 'name', 'n4');
-- name: filter: struct(d.country, d.size) = struct('DE', 40)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE struct(d.country, d.size) = struct('DE', 40);
-- name: filter: (d.country, d.size) IN (('DE', 40), ('NL', 10))
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE (d.country, d.size) IN (('DE', 40), ('NL', 10));
-- name: filter: array_contains(d.tags, 't4')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_contains(d.tags, 't4');
-- name: filter: d.tags[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.tags[0] = 't4';
-- name: filter: element_at(d.tags, 1) IN ('t4', 't5')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE element_at(d.tags, 1) IN ('t4', 't5');
-- name: filter: element_at(d.tags, -2) = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE element_at(d.tags, -2) = 't4';
-- name: filter: try_element_at(d.tags, 1) = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_element_at(d.tags, 1) = 't4';
-- name: filter: size(d.tags) = 2 AND d.port = 3
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE size(d.tags) = 2 AND d.port = 3;
-- name: filter: cardinality(d.tags) = 2 AND d.port = 3
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE cardinality(d.tags) = 2 AND d.port = 3;
-- name: filter: array_position(d.tags, 't4') = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_position(d.tags, 't4') = 1;
-- name: filter: exists(d.tags, t -> t = 't4')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE exists(d.tags, t -> t = 't4');
-- name: filter: forall(d.tags, t -> t IN ('t4', 'x'))
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE forall(d.tags, t -> t IN ('t4', 'x'));
-- name: filter: size(filter(d.tags, t -> t LIKE 't4%')) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE size(filter(d.tags, t -> t LIKE 't4%')) = 1;
-- name: filter: aggregate(d.tags, 0, (a, t) -> a + length(t)) = 3 AND d.size > 30
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE aggregate(d.tags, 0, (a, t) -> a + length(t)) = 3 AND d.size > 30;
-- name: filter: transform(d.tags, t -> upper(t))[0] = 'T4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE transform(d.tags, t -> upper(t))[0] = 'T4';
-- name: filter: array_join(d.tags, ',') = 't4,x'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_join(d.tags, ',') = 't4,x';
-- name: filter: concat_ws(',', d.tags) = 't4,x'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE concat_ws(',', d.tags) = 't4,x';
-- name: filter: sort_array(d.tags)[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE sort_array(d.tags)[0] = 't4';
-- name: filter: arrays_overlap(d.tags, array('t4', 't5'))
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE arrays_overlap(d.tags, array('t4', 't5'));
-- name: filter: array_max(d.tags) = 'x' AND d.size > 30
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_max(d.tags) = 'x' AND d.size > 30;
-- name: filter: get(d.tags, 0) = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE get(d.tags, 0) = 't4';
-- name: filter: slice(d.tags, 1, 1) = array('t4')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE slice(d.tags, 1, 1) = array('t4');
-- name: filter: d.tags = array('t4', 'x')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.tags = array('t4', 'x');
-- name: filter: d.extra['zone'] = 'z1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.extra['zone'] = 'z1';
-- name: filter: element_at(d.extra, 'zone') = 'z1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE element_at(d.extra, 'zone') = 'z1';
-- name: filter: map_contains_key(d.extra, 'zone') AND d.size > 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map_contains_key(d.extra, 'zone') AND d.size > 40;
-- name: filter: map_keys(d.extra)[0] = 'zone' AND d.size > 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map_keys(d.extra)[0] = 'zone' AND d.size > 40;
-- name: filter: array_contains(map_values(d.extra), 'z1')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_contains(map_values(d.extra), 'z1');
-- name: filter: get_json_object(concat('{"a":', d.code, '}'), '$.a') = '44'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE get_json_object(concat('{"a":', d.code, '}'), '$.a') = '44';
-- name: filter: from_json(concat('{"a":', d.code, '}'), 'a INT').a = 44
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE from_json(concat('{"a":', d.code, '}'), 'a INT').a = 44;
-- name: filter: to_json(named_struct('a', d.port)) = '{"a":4}'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_json(named_struct('a', d.port)) = '{"a":4}';
-- name: filter: abs(d.size - 40) < 15
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE abs(d.size - 40) < 15;
-- name: filter: d.size % 30 = 10
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size % 30 = 10;
-- name: filter: mod(d.size, 30) = 10
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE mod(d.size, 30) = 10;
-- name: filter: pmod(d.port - 5, 3) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE pmod(d.port - 5, 3) = 1;
-- name: filter: d.size / 2 > 30
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size / 2 > 30;
-- name: filter: d.size div 20 = 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size div 20 = 2;
-- name: filter: d.size * 2 > 120
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size * 2 > 120;
-- name: filter: d.size - 10 * d.port = 0 AND d.port > 6
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size - 10 * d.port = 0 AND d.port > 6;
-- name: filter: -d.size < -60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE -d.size < -60;
-- name: filter: power(d.port, 2) > 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE power(d.port, 2) > 40;
-- name: filter: sqrt(d.size) > 7
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE sqrt(d.size) > 7;
-- name: filter: round(d.size / 7.0, 1) > 8
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE round(d.size / 7.0, 1) > 8;
-- name: filter: floor(d.size / 30) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE floor(d.size / 30) = 1;
-- name: filter: ceil(d.size / 30) = 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE ceil(d.size / 30) = 2;
-- name: filter: ln(d.size) > 4
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE ln(d.size) > 4;
-- name: filter: log10(d.size) > 1.8
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE log10(d.size) > 1.8;
-- name: filter: exp(d.port) > 400
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE exp(d.port) > 400;
-- name: filter: greatest(d.size, 45) > 50
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE greatest(d.size, 45) > 50;
-- name: filter: least(d.port, 5) = 4
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE least(d.port, 5) = 4;
-- name: filter: sign(d.size - 50) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE sign(d.size - 50) = 1;
-- name: filter: d.port & 1 = 1 AND d.size > 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.port & 1 = 1 AND d.size > 40;
-- name: filter: shiftleft(d.port, 1) > 12
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE shiftleft(d.port, 1) > 12;
-- name: filter: bit_count(d.port) = 3
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE bit_count(d.port) = 3;
-- name: filter: hash(d.country) = hash('DE')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE hash(d.country) = hash('DE');
-- name: filter: xxhash64(d.country) = xxhash64('DE')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE xxhash64(d.country) = xxhash64('DE');
-- name: filter: CASE WHEN d.country = 'DE' THEN 1 ELSE 0 END = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CASE WHEN d.country = 'DE' THEN 1 ELSE 0 END = 1;
-- name: filter: CASE d.country WHEN 'DE' THEN 'a' WHEN 'NL' THEN 'b' END = 'a'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CASE d.country WHEN 'DE' THEN 'a' WHEN 'NL' THEN 'b' END = 'a';
-- name: filter: if(d.size > 50, 'big', 'small') = 'big'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE if(d.size > 50, 'big', 'small') = 'big';
-- name: filter: nvl(d.country, 'XX') = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE nvl(d.country, 'XX') = 'DE';
-- name: filter: ifnull(d.country, 'XX') = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE ifnull(d.country, 'XX') = 'DE';
-- name: filter: nvl2(d.country, d.size, 0) > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE nvl2(d.country, d.size, 0) > 60;
-- name: filter: nullif(d.country, 'DE') = 'NL'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE nullif(d.country, 'DE') = 'NL';
-- name: filter: coalesce(d.country, d.region) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE coalesce(d.country, d.region) = 'DE';
-- name: filter: decode(d.country, 'DE', 1, 'NL', 2, 0) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE decode(d.country, 'DE', 1, 'NL', 2, 0) = 1;
-- name: filter: CAST(d.size AS STRING) = '40'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CAST(d.size AS STRING) = '40';
-- name: filter: CAST(d.code AS INT) = 44
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CAST(d.code AS INT) = 44;
-- name: filter: CAST(d.code AS BIGINT) > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CAST(d.code AS BIGINT) > 60;
-- name: filter: CAST(d.code AS DOUBLE) > 60.5
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CAST(d.code AS DOUBLE) > 60.5;
-- name: filter: CAST(d.code AS DECIMAL(10,2)) > 60.5
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CAST(d.code AS DECIMAL(10,2)) > 60.5;
-- name: filter: try_cast(d.code AS INT) = 44
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_cast(d.code AS INT) = 44;
-- name: filter: int(d.code) = 44
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE int(d.code) = 44;
-- name: filter: d.code::INT = 44
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.code::INT = 44;
-- name: filter: CAST(d.size AS SMALLINT) = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CAST(d.size AS SMALLINT) = 40;
-- name: filter: d.code = 44
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.code = 44;
-- name: filter: d.code > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.code > 60;
-- name: filter: d.size = '40'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size = '40';
-- name: filter: d.size > 60.5
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size > 60.5;
-- name: filter: d.size IN (10 * 2, 10 * 4)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size IN (10 * 2, 10 * 4);
-- name: filter: isnotnull(d.country) AND d.country = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE isnotnull(d.country) AND d.country = 'DE';
-- name: filter: d.country IS NOT NULL AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country IS NOT NULL AND d.size > 60;
-- name: filter: d.size IS NOT NULL
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size IS NOT NULL;
-- name: filter: (d.country = 'DE') IS TRUE
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE (d.country = 'DE') IS TRUE;
-- name: filter: (d.country = 'DE') = true
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE (d.country = 'DE') = true;
-- name: filter: NOT d.open AND d.size > 20
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE NOT d.open AND d.size > 20;
-- name: filter: d.open = false AND d.size > 20
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.open = false AND d.size > 20;
-- name: filter: d.open IS FALSE AND d.size > 20
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.open IS FALSE AND d.size > 20;
-- name: filter: d.country = 'DE' OR (d.country = 'NL' AND d.size > 20)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country = 'DE' OR (d.country = 'NL' AND d.size > 20);
-- name: filter: NOT (d.country = 'NL' OR d.country = 'US')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE NOT (d.country = 'NL' OR d.country = 'US');
-- name: filter: d.country = 'D' || 'E'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country = 'D' || 'E';
-- name: filter: d.since >= '2021-01-01' AND d.since <= current_timestamp()
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since >= '2021-01-01' AND d.since <= current_timestamp();
-- name: filter: find_in_set(d.country, 'NL,DE') = 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE find_in_set(d.country, 'NL,DE') = 2;
-- name: filter: overlay(d.country PLACING 'X' FROM 1 FOR 1) = 'XE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE overlay(d.country PLACING 'X' FROM 1 FOR 1) = 'XE';
-- name: filter: format_string('%s-%d', d.country, d.port) = 'DE-4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE format_string('%s-%d', d.country, d.port) = 'DE-4';
-- name: filter: char_length(d.country) = 2 AND d.port > 6
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE char_length(d.country) = 2 AND d.port > 6;
-- name: filter: substring_index(d.country, 'E', 1) = 'D'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE substring_index(d.country, 'E', 1) = 'D';
-- name: filter: repeat(d.country, 2) = 'DEDE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE repeat(d.country, 2) = 'DEDE';
-- name: filter: d.since IN (DATE '2020-07-19', DATE '2021-02-04')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since IN (DATE '2020-07-19', DATE '2021-02-04');
-- name: filter: to_char(d.size, '99') = '40'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_char(d.size, '99') = '40';
-- name: filter: equal_null(d.country, 'DE')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE equal_null(d.country, 'DE');
-- name: filter: width_bucket(d.size, 0, 100, 5) = 3
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE width_bucket(d.size, 0, 100, 5) = 3;
-- name: filter: conv(d.code, 10, 16) = '2C'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE conv(d.code, 10, 16) = '2C';
-- name: filter: bin(d.port) = '100'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE bin(d.port) = '100';
-- name: filter: try_divide(d.size, d.port) > 9 AND d.size > 50
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_divide(d.size, d.port) > 9 AND d.size > 50;
-- name: filter: try_add(d.size, 1) > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_add(d.size, 1) > 60;
-- name: filter: hour(CAST(d.since AS TIMESTAMP)) = 0 AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE hour(CAST(d.since AS TIMESTAMP)) = 0 AND d.size > 60;
-- name: filter: weekday(d.since) = 6
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE weekday(d.since) = 6;
-- name: filter: date_from_unix_date(d.size) = DATE '1970-02-10'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE date_from_unix_date(d.size) = DATE '1970-02-10';
-- name: filter: unix_date(d.since) > 18900
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE unix_date(d.since) > 18900;
-- name: filter: timestampdiff(DAY, d.since, DATE '2022-12-31') < 300
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE timestampdiff(DAY, d.since, DATE '2022-12-31') < 300;
-- name: filter: dateadd(DAY, 5, d.since) = DATE '2020-07-24'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE dateadd(DAY, 5, d.since) = DATE '2020-07-24';
-- name: filter: d.since >= add_months(DATE '2022-06-01', -12)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since >= add_months(DATE '2022-06-01', -12);
-- name: filter: array(d.country, d.region)[0] = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array(d.country, d.region)[0] = 'DE';
-- name: filter: map('a', d.country)['a'] = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map('a', d.country)['a'] = 'DE';
-- name: filter: named_struct('a', d.country).a = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE named_struct('a', d.country).a = 'DE';
-- name: filter: str_to_map(concat('a:', d.code), ',', ':')['a'] = '44'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE str_to_map(concat('a:', d.code), ',', ':')['a'] = '44';
-- name: filter: parse_url(concat('http://x/', d.country), 'PATH') = '/DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE parse_url(concat('http://x/', d.country), 'PATH') = '/DE';
-- name: OR, each branch with the equality
SELECT f.landed FROM landings f, ports d WHERE (f.port = d.port AND d.country = 'DE') OR (f.port = d.port AND d.size < 20);
-- name: OR in ON, each branch with the equality
SELECT f.landed FROM landings f JOIN ports d ON (f.port = d.port AND d.country = 'DE' AND f.tons > 10) OR (f.port = d.port AND d.country = 'NL' AND f.tons < 10);
-- name: a number of the row that nobody reads
SELECT f.landed FROM landings f JOIN (SELECT port, country, row_number() OVER (ORDER BY size) AS n FROM ports) d ON f.port = d.port WHERE d.country = 'DE';
-- name: an average that nobody reads
SELECT f.landed FROM landings f JOIN (SELECT port, avg(size) AS a FROM ports WHERE country = 'DE' GROUP BY port) d ON f.port = d.port;
-- name: IN of a sum
SELECT f.landed FROM landings f WHERE f.port IN (SELECT d.port + 2 FROM ports d WHERE d.country = 'DE');
-- name: IN of a cast in a sum
SELECT f.landed FROM landings f WHERE f.port IN (SELECT CAST(d.code AS INT) - 40 FROM ports d WHERE d.country = 'DE');
-- name: a key of a CTE that can fail
WITH k AS (SELECT CAST(code AS INT) - 40 AS n, country FROM ports) SELECT f.landed FROM landings f JOIN k ON f.port = k.n WHERE k.country = 'DE';
-- name: filter: aggregate(array(d.port, 1), 0, (a, x) -> a + x) > 8
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE aggregate(array(d.port, 1), 0, (a, x) -> a + x) > 8;
-- name: filter: zip_with(d.tags, array('a', 'b'), (x, y) -> concat(x, y))[0] = 't4a'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE zip_with(d.tags, array('a', 'b'), (x, y) -> concat(x, y))[0] = 't4a';
-- name: filter: dateadd(MONTH, 2, CAST(d.since AS TIMESTAMP)) > TIMESTAMP '2021-01-01 00:00:00'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE dateadd(MONTH, 2, CAST(d.since AS TIMESTAMP)) > TIMESTAMP '2021-01-01 00:00:00';
-- name: values as a CTE with names in its head
WITH v(k, c) AS (VALUES (3, 'a'), (4, 'b'), (9, 'a')) SELECT f.landed FROM landings f JOIN v ON f.port = v.k WHERE v.c = 'a';
-- name: values as a CTE, unnamed columns
WITH v AS (VALUES (3), (4)) SELECT f.landed FROM landings f JOIN v ON f.port = v.col1;
-- name: VALUES in parentheses with an alias list
SELECT f.landed FROM landings f JOIN (VALUES (3, 'x'), (7, 'y')) AS v(k, c) ON f.port = v.k AND v.c = 'y';
-- name: VALUES without any alias
SELECT f.landed FROM landings f JOIN (VALUES (3), (7)) ON f.port = col1;
-- name: VALUES bare after JOIN with default names
SELECT f.landed FROM landings f JOIN VALUES (3, 1), (7, 2) ON f.port = col1 WHERE col2 = 1;
-- name: VALUES scalar rows
SELECT f.landed FROM landings f JOIN VALUES 3, 4, 5 AS v(k) ON f.port = v.k;
-- name: IN of SELECT col1 of VALUES
SELECT f.landed FROM landings f WHERE f.port IN (SELECT col1 FROM VALUES (1, 'a'), (2, 'b') WHERE col2 = 'a');
-- name: semi-join with VALUES
SELECT f.landed FROM landings f LEFT SEMI JOIN VALUES (1), (2) AS v(k) ON f.port = v.k;
-- name: EXISTS in VALUES
SELECT f.landed FROM landings f WHERE EXISTS (SELECT 1 FROM VALUES (1), (2) AS v(k) WHERE v.k = f.port);
-- name: VALUES of expressions
SELECT f.landed FROM landings f JOIN VALUES (1 + 1), (2 * 4) AS v(k) ON f.port = v.k;
-- name: VALUES of casts
SELECT f.id FROM visits f JOIN VALUES (CAST('2024-01-03' AS DATE)), (DATE '2024-01-09') AS v(k) ON f.day = v.k;
-- name: VALUES of dates by functions
SELECT f.id FROM visits f JOIN VALUES (to_date('2024-01-03')), (date_add(DATE '2024-01-09', 3)) AS v(k) ON f.day = v.k;
-- name: VALUES with negative numbers
SELECT f.landed FROM landings f JOIN VALUES (-3), (4) AS v(k) ON f.port = v.k;
-- name: VALUES joined with the dimension
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port JOIN VALUES ('DE'), ('NL') AS v(c) ON d.country = v.c;
-- name: SELECT UNION of constants
SELECT f.landed FROM landings f JOIN (SELECT 3 AS k UNION ALL SELECT 4) v ON f.port = v.k WHERE v.k > 3;
-- name: range as a dimension
SELECT f.landed FROM landings f JOIN range(3, 9) r ON f.port = r.id WHERE r.id % 2 = 0;
-- name: range with one argument and filter
SELECT f.landed FROM landings f JOIN range(30) r ON f.port = r.id WHERE r.id IN (3, 5);
-- name: range with a step in a derived table
SELECT f.landed FROM landings f JOIN (SELECT id AS k FROM range(1, 20, 3) WHERE id > 4) r ON f.port = r.k;
-- name: range cast in a CTE
WITH r AS (SELECT CAST(id AS INT) AS k FROM range(5, 9) WHERE id <> 6) SELECT f.landed FROM landings f JOIN r ON f.port = r.k;
-- name: range renamed by its alias
SELECT f.landed FROM landings f JOIN range(10) AS r(k) ON f.port = r.k WHERE r.k < 3;
-- name: days by range
SELECT f.id FROM visits f JOIN (SELECT date_add(DATE '2024-01-01', CAST(id AS INT)) AS day FROM range(5) WHERE id > 2) r ON f.day = r.day;
-- name: sequence exploded, filtered
SELECT f.id FROM visits f JOIN (SELECT explode(sequence(DATE '2024-01-01', DATE '2024-01-20', INTERVAL 1 DAY)) AS day) r ON f.day = r.day WHERE dayofweek(r.day) = 2;
-- name: sequence of integers exploded, filtered
SELECT f.landed FROM landings f JOIN (SELECT explode(sequence(1, 10)) AS k) r ON f.port = r.k WHERE r.k > 7;
-- name: explode of an array column, default name
SELECT f.id FROM notes f JOIN (SELECT explode(tags) FROM ports WHERE country = 'DE') d ON f.tag = d.col;
-- name: explode outer with a filter above
SELECT f.id FROM notes f JOIN (SELECT explode_outer(tags) AS tag, country FROM ports) d ON f.tag = d.tag WHERE d.country = 'DE';
-- name: posexplode in LATERAL VIEW
SELECT f.id FROM notes f JOIN (SELECT t.tag, t.pos FROM ports LATERAL VIEW posexplode(tags) t AS pos, tag WHERE country = 'DE') d ON f.tag = d.tag WHERE d.pos = 0;
-- name: posexplode in the select list
SELECT f.id FROM notes f JOIN (SELECT posexplode(tags) AS (pos, tag) FROM ports WHERE country = 'DE') d ON f.tag = d.tag;
-- name: explode of a map's values
SELECT f.id FROM notes f JOIN (SELECT explode(map('a', code)) AS (mk, mv) FROM ports WHERE country = 'DE') d ON f.tag = d.mv;
-- name: stack in LATERAL VIEW
SELECT f.landed FROM landings f JOIN (SELECT s.k FROM ports LATERAL VIEW stack(2, port, port + 1) s AS k WHERE country = 'DE') d ON f.port = d.k;
-- name: stack of constants
SELECT f.landed FROM landings f JOIN (SELECT stack(2, 3, 'a', 4, 'b') AS (k, c)) d ON f.port = d.k WHERE d.c = 'a';
-- name: inline of an array of structs
SELECT f.landed FROM landings f JOIN (SELECT inline(array(struct(port, country))) AS (k, c) FROM ports WHERE size > 60) d ON f.port = d.k;
-- name: explode of split text
SELECT f.id FROM notes f JOIN (SELECT explode(split('t3,t4,t5', ',')) AS tag) d ON f.tag = d.tag WHERE d.tag <> 't3';
-- name: LATERAL explode
SELECT f.id FROM notes f JOIN (SELECT e.col AS tag FROM ports p, LATERAL explode(p.tags) e WHERE p.country = 'DE') d ON f.tag = d.tag;
-- name: table function explode in FROM
SELECT f.landed FROM landings f JOIN explode(array(3, 4, 5)) AS e(k) ON f.port = e.k WHERE e.k > 3;
-- name: LATERAL VIEW after the join, filter on the generated
SELECT f.id FROM notes f JOIN ports d ON f.id = d.port LATERAL VIEW explode(d.tags) t AS tg WHERE f.tag = t.tg AND d.country = 'DE';
-- name: struct of two partition keys
SELECT f.id FROM trips f JOIN calendar d ON struct(f.year, f.month) = struct(d.year, d.month) WHERE d.label = 'd40';
-- name: row constructor IN
SELECT f.id FROM trips f WHERE (f.year, f.month) IN (SELECT d.year, d.month FROM calendar d WHERE d.label = 'd40');
-- name: row equality in ON
SELECT f.id FROM trips f JOIN calendar d ON (f.year, f.month) = (d.year, d.month) WHERE d.label = 'd40';
-- name: named_struct of a key
SELECT f.landed FROM landings f JOIN ports d ON named_struct('a', f.port) = named_struct('a', d.port) WHERE d.country = 'DE';
-- name: concatenated key (again)
SELECT f.id FROM trips f JOIN calendar d ON concat(f.year, '-', f.month) = concat(d.year, '-', d.month) WHERE d.label = 'd40';
-- name: concat_ws key
SELECT f.id FROM trips f JOIN calendar d ON concat_ws('-', f.year, f.month) = concat_ws('-', d.year, d.month) WHERE d.label = 'd40';
-- name: key number of month
SELECT f.id FROM trips f JOIN calendar d ON f.year * 100 + f.month = d.year * 100 + d.month WHERE d.label = 'd40';
-- name: having sum of ints
SELECT f.landed FROM landings f JOIN (SELECT port FROM berths GROUP BY port HAVING sum(berth) > 40) d ON f.port = d.port;
-- name: having avg as an alias
SELECT f.landed FROM landings f JOIN (SELECT port, avg(size) AS a FROM ports GROUP BY port HAVING a > 60) d ON f.port = d.port;
-- name: filter on an average above
SELECT f.landed FROM landings f JOIN (SELECT port, avg(size) AS a FROM ports GROUP BY port) d ON f.port = d.port WHERE d.a > 60;
-- name: having sum of bigint
SELECT f.landed FROM landings f JOIN (SELECT one AS port FROM crops GROUP BY one HAVING sum(prod) > 40) d ON f.port = d.port;
-- name: having count
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports GROUP BY port HAVING count(*) >= 1 AND max(size) > 60) d ON f.port = d.port;
-- name: having count distinct
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports GROUP BY port HAVING count(DISTINCT country) = 1 AND min(country) = 'DE') d ON f.port = d.port;
-- name: having stddev
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports WHERE country = 'DE' GROUP BY port HAVING stddev(size) IS NULL) d ON f.port = d.port;
-- name: max_by key
SELECT f.landed FROM landings f JOIN (SELECT country, max_by(port, size) AS k FROM ports GROUP BY country) d ON f.port = d.k WHERE d.country = 'DE';
-- name: min_by key
SELECT f.landed FROM landings f JOIN (SELECT country, min_by(port, size) AS k FROM ports GROUP BY country) d ON f.port = d.k WHERE d.country = 'DE';
-- name: lag key
SELECT f.landed FROM landings f JOIN (SELECT lag(port) OVER (ORDER BY port) AS k, country FROM ports) d ON f.port = d.k WHERE d.country = 'DE';
-- name: bool_and
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports GROUP BY port HAVING bool_and(size > 60)) d ON f.port = d.port;
-- name: scalar average filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size > (SELECT avg(size) FROM ports);
-- name: scalar max filter
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size = (SELECT max(size) FROM ports);
-- name: correlated scalar average
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size > (SELECT avg(e.size) FROM ports e WHERE e.country = d.country);
-- name: correlated scalar max
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size = (SELECT max(e.size) FROM ports e WHERE e.country = d.country);
-- name: percentile in a scalar subquery
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size > (SELECT percentile(size, 0.5) FROM ports);
-- name: median in a scalar subquery
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size > (SELECT median(size) FROM ports);
-- name: distinct of a computed key
SELECT f.landed FROM landings f JOIN (SELECT DISTINCT port + 1 AS k FROM ports WHERE country = 'DE') d ON f.port = d.k;
-- name: group by a computed key
SELECT f.landed FROM landings f JOIN (SELECT port * 2 AS k, count(*) AS n FROM ports WHERE country = 'DE' GROUP BY port * 2) d ON f.port = d.k;
-- name: distinct of a cast key
SELECT f.landed FROM landings f JOIN (SELECT DISTINCT CAST(code AS INT) AS k FROM ports WHERE country = 'DE') d ON f.port = d.k;
-- name: union of computed keys
SELECT f.landed FROM landings f JOIN (SELECT port + 1 AS k FROM ports WHERE country = 'DE' UNION SELECT port FROM closed WHERE why = 'ice') d ON f.port = d.k;
-- name: distinct year of a date
SELECT f.id FROM trips f JOIN (SELECT DISTINCT year(day) AS y, month(day) AS m FROM calendar WHERE label LIKE 'd4%') d ON f.year = d.y AND f.month = d.m;
-- name: CTE self-join, both filtered
WITH v AS (SELECT port, landed FROM landings WHERE kind = 2) SELECT a.landed FROM v a JOIN v b ON a.port = b.port WHERE b.landed < 20;
-- name: self-join of a table both filtered
SELECT a.landed FROM landings a JOIN landings b ON a.port = b.port WHERE a.tons = 10 AND b.tons = 60;
-- name: fact casts its key in a derived table
SELECT f.landed FROM (SELECT landed, CAST(port AS STRING) AS p FROM landings) f JOIN ports d ON f.p = d.code WHERE d.country = 'DE';
-- name: fact day plus interval
SELECT f.id FROM visits f JOIN calendar d ON f.day + INTERVAL 1 DAY = d.day WHERE d.label = 'd20';
-- name: fact day formatted
SELECT f.id FROM visits f JOIN calendar d ON date_format(f.day, 'yyyyMM') = date_format(d.day, 'yyyyMM') WHERE d.label = 'd35';
-- name: month of both
SELECT f.id FROM visits f JOIN calendar d ON month(f.day) = d.month AND year(f.day) = d.year WHERE d.label = 'd35';
-- name: case of the fact's key
SELECT f.landed FROM landings f JOIN ports d ON CASE WHEN f.port > 20 THEN 1 ELSE f.port END = d.port WHERE d.country = 'NL';
-- name: coalesce of the fact's key
SELECT f.landed FROM landings f JOIN ports d ON coalesce(f.port, -1) = coalesce(d.port, -1) WHERE d.country = 'NL';
-- name: substring of the fact's key
SELECT f.id FROM notes f JOIN ports d ON substring(f.tag, 2) = d.code WHERE d.country = 'NL';
-- name: replace of the fact's key
SELECT f.id FROM notes f JOIN ports d ON replace(f.tag, 't', '') = CAST(d.port AS STRING) WHERE d.country = 'NL';
-- name: cast of a text key
SELECT f.id FROM notes f JOIN ports d ON CAST(substr(f.tag, 2) AS INT) = d.port WHERE d.country = 'NL';
-- name: decimal key of an expression
SELECT f.n FROM prices f JOIN crops d ON f.price = CAST(d.id AS DECIMAL(10,2)) WHERE d.prod > 60;
-- name: bigint level against int
SELECT f.n FROM levels f JOIN ports d ON f.level = d.port WHERE d.country = 'NL';
-- name: level against double key
SELECT f.n FROM levels f JOIN ports d ON CAST(f.level AS DOUBLE) = CAST(d.port AS DOUBLE) WHERE d.country = 'NL';
-- name: level against a product of doubles
SELECT f.n FROM levels f JOIN ports d ON f.level = d.size / 10 WHERE d.country = 'NL';
-- name: key rounded
SELECT f.n FROM levels f JOIN ports d ON f.level = round(d.size / 10) WHERE d.country = 'NL';
-- name: key by floor
SELECT f.n FROM levels f JOIN ports d ON f.level = floor(d.size / 10) WHERE d.country = 'NL';
-- name: key by integer division
SELECT f.n FROM levels f JOIN ports d ON f.level = d.size div 10 WHERE d.country = 'NL';
-- name: key by length
SELECT f.n FROM levels f JOIN ports d ON f.level = length(d.code) WHERE d.country = 'NL';
-- name: key by element of an array
SELECT f.id FROM notes f JOIN ports d ON f.tag = d.tags[0] WHERE d.country = 'NL';
-- name: key by element of a map
SELECT f.id FROM notes f JOIN ports d ON f.tag = d.extra['zone'] WHERE d.country = 'NL';
-- name: key by a struct field in a derived table
SELECT f.landed FROM landings f JOIN (SELECT struct(port, country) AS s FROM ports) d ON f.port = d.s.port WHERE d.s.country = 'NL';
-- name: key by a json field
SELECT f.id FROM notes f JOIN ports d ON f.tag = get_json_object(to_json(d.info), '$.name') WHERE d.country = 'NL';
-- name: key by regexp_extract
SELECT f.landed FROM landings f JOIN labels d ON f.port = CAST(regexp_extract(d.tag, '([0-9]+)', 1) AS INT) WHERE d.grp = 'g3';
-- name: key by regexp_replace
SELECT f.id FROM notes f JOIN labels d ON f.tag = regexp_replace(d.tag, 'x', 'y') WHERE d.grp = 'g3';
-- name: key by upper
SELECT f.id FROM notes f JOIN labels d ON upper(f.tag) = upper(d.tag) WHERE d.grp = 'g3';
-- name: key by trim
SELECT f.id FROM notes f JOIN labels d ON f.tag = trim(d.tag) WHERE d.grp = 'g3';
-- name: key by lpad
SELECT f.id FROM notes f JOIN labels d ON lpad(f.tag, 5, '0') = lpad(d.tag, 5, '0') WHERE d.grp = 'g3';
-- name: key by md5
SELECT f.id FROM notes f JOIN labels d ON md5(f.tag) = md5(d.tag) WHERE d.grp = 'g3';
-- name: key by hash
SELECT f.id FROM notes f JOIN labels d ON hash(f.tag) = hash(d.tag) WHERE d.grp = 'g3';
-- name: key by least and greatest
SELECT f.landed FROM landings f JOIN ports d ON f.port = greatest(d.port, 2) WHERE d.country = 'NL';
-- name: key by bit operations
SELECT f.landed FROM landings f JOIN ports d ON f.port & 7 = d.port & 7 WHERE d.country = 'NL';
-- name: key by modulo
SELECT f.landed FROM landings f JOIN ports d ON f.port % 4 = d.port % 4 WHERE d.port = 3;
-- name: key by pmod
SELECT f.landed FROM landings f JOIN ports d ON pmod(f.port, 4) = pmod(d.port, 4) WHERE d.port = 3;
-- name: key by negative
SELECT f.landed FROM landings f JOIN ports d ON -f.port = -d.port WHERE d.country = 'NL';
-- name: key by date_sub
SELECT f.id FROM visits f JOIN calendar d ON f.day = date_sub(d.day, 7) WHERE d.label = 'd20';
-- name: key by last_day
SELECT f.id FROM visits f JOIN calendar d ON f.day = last_day(d.day) WHERE d.label = 'd20';
-- name: key by next_day
SELECT f.id FROM visits f JOIN calendar d ON f.day = next_day(d.day, 'MON') WHERE d.label = 'd20';
-- name: key by cast of timestamp
SELECT f.id FROM visits f JOIN calendar d ON f.day = CAST(d.start AS DATE) WHERE d.label = 'd20';
-- name: key by to_date of text
SELECT f.id FROM visits f JOIN (SELECT concat('2024-01-0', port) AS t, country FROM ports) d ON f.day = to_date(d.t) WHERE d.country = 'NL';
-- name: key by to_date with a pattern
SELECT f.id FROM visits f JOIN (SELECT concat('0', port, '/01/2024') AS t, country FROM ports) d ON f.day = to_date(d.t, 'dd/MM/yyyy') WHERE d.country = 'NL';
-- name: key by make_date
SELECT f.id FROM visits f JOIN ports d ON f.day = make_date(2024, 1, d.port) WHERE d.country = 'NL';
-- name: key by date_trunc
SELECT f.id FROM visits f JOIN calendar d ON f.day = date_trunc('MONTH', d.start) WHERE d.label = 'd20';
-- name: key by from_unixtime
SELECT f.id FROM visits f JOIN calendar d ON f.day = to_date(from_unixtime(unix_timestamp(d.start))) WHERE d.label = 'd20';
-- name: PIVOT as a dimension
SELECT f.landed FROM landings f JOIN (SELECT * FROM (SELECT port, country, size FROM ports) PIVOT (max(size) FOR country IN ('DE' AS de, 'NL' AS nl))) d ON f.port = d.port WHERE d.de > 0;
-- name: UNPIVOT as a dimension
SELECT f.landed FROM landings f JOIN (SELECT * FROM (SELECT port, size, country FROM ports) UNPIVOT (k FOR name IN (port, size))) d ON f.port = d.k WHERE d.country = 'DE';
-- name: rollup in the dimension
SELECT f.landed FROM landings f JOIN (SELECT port, country, count(*) AS n FROM ports GROUP BY ROLLUP (country, port)) d ON f.port = d.port WHERE d.country = 'DE';
-- name: cube in the dimension
SELECT f.landed FROM landings f JOIN (SELECT port, country FROM ports GROUP BY CUBE (country, port)) d ON f.port = d.port WHERE d.country = 'DE';
-- name: intersect dimension
SELECT f.landed FROM landings f JOIN (SELECT port FROM ports WHERE size > 30 INTERSECT SELECT port FROM berths) d ON f.port = d.port;
-- name: nested CTEs (again)
WITH a AS (SELECT * FROM ports WHERE size > 30), b AS (SELECT port AS k FROM a WHERE country <> 'US'), c AS (SELECT k FROM b) SELECT f.landed FROM landings f JOIN c ON f.port = c.k;
-- name: qualify in the dimension
SELECT f.landed FROM landings f JOIN (SELECT port, country FROM ports QUALIFY rank() OVER (PARTITION BY country ORDER BY size) = 1) d ON f.port = d.port WHERE d.country <> 'US';
-- name: pipe syntax
FROM landings |> AS f |> JOIN ports d ON f.port = d.port |> WHERE d.country = 'DE' |> SELECT f.landed;
-- name: two facts of one dimension
SELECT f.landed, b.berth FROM landings f JOIN ports d ON f.port = d.port JOIN berths b ON b.port = d.port WHERE d.country = 'DE';
-- name: fact below an aggregate
SELECT x.s FROM (SELECT port, sum(tons) AS s FROM landings GROUP BY port) x JOIN ports d ON x.port = d.port WHERE d.country = 'DE';
-- name: fact below a window
SELECT x.r FROM (SELECT port, rank() OVER (PARTITION BY port ORDER BY tons) AS r FROM landings) x JOIN ports d ON x.port = d.port WHERE d.country = 'DE';
-- name: fact below a union
SELECT x.landed FROM (SELECT landed, port FROM landings UNION ALL SELECT landed, port FROM landings_flat) x JOIN ports d ON x.port = d.port WHERE d.country = 'DE';
-- name: fact below intersect
SELECT x.port FROM (SELECT port FROM landings INTERSECT SELECT port FROM berths) x JOIN ports d ON x.port = d.port WHERE d.country = 'DE';
-- name: fact below explode
SELECT x.e FROM (SELECT port, explode(array(landed, tons)) AS e FROM landings) x JOIN ports d ON x.port = d.port WHERE d.country = 'DE';
-- name: fact below stack
SELECT x.e FROM (SELECT port, stack(2, landed, tons) AS e FROM landings) x JOIN ports d ON x.port = d.port WHERE d.country = 'DE';
-- name: double parentheses around a join
SELECT f.landed FROM ((landings f JOIN ports d ON f.port = d.port)) WHERE d.country = 'DE';
-- name: parenthesised join of derived tables
SELECT f.landed FROM ((SELECT landed, port AS p2 FROM landings) f JOIN ports b ON f.p2 = b.port) WHERE b.country = 'DE';
-- name: double parentheses around derived tables
SELECT landed FROM ((SELECT landed, port AS p2 FROM landings) a JOIN ports b ON a.p2 = b.port) JOIN ports c ON a.p2 = c.port WHERE c.country = 'DE';
-- name: not in constants
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country NOT IN ('US', 'NL');
-- name: not in subquery
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.port NOT IN (SELECT c.port FROM closed c WHERE c.why = 'ice' AND c.port IS NOT NULL) AND d.size > 10;
-- name: exists and or
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country = 'DE' OR (d.country = 'NL' AND d.size > 10);
-- name: in of distinct
SELECT f.landed FROM landings f WHERE f.port IN (SELECT DISTINCT d.port FROM ports d WHERE d.country = 'DE' AND d.size > 40);
-- name: in of a union
SELECT f.landed FROM landings f WHERE f.port IN (SELECT port FROM ports WHERE country = 'DE' UNION ALL SELECT port FROM closed WHERE why = 'storm');
-- name: in of explode
SELECT f.id FROM notes f WHERE f.tag IN (SELECT explode(tags) FROM ports WHERE country = 'DE');
-- name: in of range
SELECT f.landed FROM landings f WHERE f.port IN (SELECT id FROM range(3, 6) WHERE id > 3);
-- name: any value of a group
SELECT f.landed FROM landings f JOIN (SELECT country, max(struct(size, port)).port AS k FROM ports GROUP BY country) d ON f.port = d.k WHERE d.country = 'DE';
-- name: array_agg key
SELECT f.landed FROM landings f JOIN (SELECT country, array_max(collect_set(port)) AS k FROM ports GROUP BY country) d ON f.port = d.k WHERE d.country = 'DE';
-- name: sort_array of a collected set
SELECT f.landed FROM landings f JOIN (SELECT country, sort_array(collect_list(port))[0] AS k FROM ports GROUP BY country) d ON f.port = d.k WHERE d.country = 'DE';
-- name: rank gt
SELECT f.landed FROM landings f JOIN (SELECT port, rank() OVER (ORDER BY size DESC) AS r FROM ports) d ON f.port = d.port WHERE d.r > 2;
-- name: rank le and inner filter
SELECT f.landed FROM landings f JOIN (SELECT port, rank() OVER (ORDER BY size DESC) AS r FROM ports WHERE country = 'DE') d ON f.port = d.port WHERE d.r <= 2;
-- name: sum over le
SELECT f.landed FROM landings f JOIN (SELECT port, sum(size) OVER (PARTITION BY country) AS r FROM ports) d ON f.port = d.port WHERE d.r <= 200;
-- name: dense_rank eq 1
SELECT f.landed FROM landings f JOIN (SELECT port, dense_rank() OVER (PARTITION BY country ORDER BY size) AS r FROM ports) d ON f.port = d.port WHERE d.r = 1;
-- name: rank eq 2
SELECT f.landed FROM landings f JOIN (SELECT port, rank() OVER (PARTITION BY country ORDER BY size) AS r FROM ports) d ON f.port = d.port WHERE d.r = 2;
-- name: country beside window
SELECT f.landed FROM landings f JOIN (SELECT port, country, row_number() OVER (PARTITION BY port ORDER BY size) AS r FROM ports) d ON f.port = d.port WHERE d.country = 'DE';
-- name: rank in
SELECT f.landed FROM landings f JOIN (SELECT port, rank() OVER (PARTITION BY country ORDER BY size) AS r FROM ports) d ON f.port = d.port WHERE d.r IN (1, 3);
-- name: ntile
SELECT f.landed FROM landings f JOIN (SELECT port, ntile(2) OVER (ORDER BY size) AS r FROM ports) d ON f.port = d.port WHERE d.r <= 1;
-- name: filter: size(d.tags) = 2 AND d.port < 3
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE size(d.tags) = 2 AND d.port < 3;
-- name: filter: map_contains_key(d.extra, 'zone') AND d.size = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map_contains_key(d.extra, 'zone') AND d.size = 40;
-- name: filter: d.info.code BETWEEN 3 AND 4
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.info.code BETWEEN 3 AND 4;
-- name: filter: concat_ws('-', d.tags) LIKE 't4%'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE concat_ws('-', d.tags) LIKE 't4%';
-- name: filter: forall(d.tags, t -> t <> 't4')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE forall(d.tags, t -> t <> 't4');
-- name: filter: size(filter(d.tags, t -> t = 't4')) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE size(filter(d.tags, t -> t = 't4')) = 1;
-- name: filter: map_keys(d.extra)[0] = 'zone' AND d.size = 30
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map_keys(d.extra)[0] = 'zone' AND d.size = 30;
-- name: filter: aggregate(d.tags, 0, (a, t) -> a + length(t)) > 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE aggregate(d.tags, 0, (a, t) -> a + length(t)) > 2;
-- name: filter: array_position(d.tags, 't4') > 0
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_position(d.tags, 't4') > 0;
-- name: filter: array_size(d.tags) > 1 AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_size(d.tags) > 1 AND d.size > 60;
-- name: filter: cardinality(d.tags) = 2 AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE cardinality(d.tags) = 2 AND d.size > 60;
-- name: filter: array_sort(d.tags)[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_sort(d.tags)[0] = 't4';
-- name: filter: slice(d.tags, 1, 1)[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE slice(d.tags, 1, 1)[0] = 't4';
-- name: filter: flatten(array(d.tags, d.tags))[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE flatten(array(d.tags, d.tags))[0] = 't4';
-- name: filter: array_distinct(d.tags)[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_distinct(d.tags)[0] = 't4';
-- name: filter: reverse(d.tags)[1] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE reverse(d.tags)[1] = 't4';
-- name: filter: reverse(d.code) = '44'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE reverse(d.code) = '44';
-- name: filter: map_from_arrays(array('a'), array(d.code))['a'] = '44'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map_from_arrays(array('a'), array(d.code))['a'] = '44';
-- name: filter: map_from_entries(array(struct('a', d.code)))['a'] = '44'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map_from_entries(array(struct('a', d.code)))['a'] = '44';
-- name: filter: locate('E', d.country) = 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE locate('E', d.country) = 2;
-- name: filter: position('E' IN d.country) = 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE position('E' IN d.country) = 2;
-- name: filter: d.country ILIKE 'd%'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country ILIKE 'd%';
-- name: filter: d.country REGEXP '^D'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country REGEXP '^D';
-- name: filter: regexp_count(d.country, 'D') = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE regexp_count(d.country, 'D') = 1;
-- name: filter: regexp_extract(d.country, '(D)(E)', 2) = 'E'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE regexp_extract(d.country, '(D)(E)', 2) = 'E';
-- name: filter: regexp_instr(d.country, 'E') = 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE regexp_instr(d.country, 'E') = 2;
-- name: filter: regexp_substr(d.country, 'D.') = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE regexp_substr(d.country, 'D.') = 'DE';
-- name: filter: regexp_extract_all(d.country, '(D)', 1)[0] = 'D'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE regexp_extract_all(d.country, '(D)', 1)[0] = 'D';
-- name: filter: split(d.country, 'E')[0] = 'D'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE split(d.country, 'E')[0] = 'D';
-- name: filter: split_part(d.region, 'r', 2) = '1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE split_part(d.region, 'r', 2) = '1';
-- name: filter: substring_index(d.region, 'r', -1) = '1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE substring_index(d.region, 'r', -1) = '1';
-- name: filter: translate(d.country, 'DE', 'XY') = 'XY'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE translate(d.country, 'DE', 'XY') = 'XY';
-- name: filter: overlay(d.country PLACING 'X' FROM 1) = 'XE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE overlay(d.country PLACING 'X' FROM 1) = 'XE';
-- name: filter: lower(d.country) IN ('de', 'nl')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE lower(d.country) IN ('de', 'nl');
-- name: filter: ucase(d.country) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE ucase(d.country) = 'DE';
-- name: filter: lcase(d.country) = 'de'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE lcase(d.country) = 'de';
-- name: filter: trim(BOTH 'D' FROM d.country) = 'E'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE trim(BOTH 'D' FROM d.country) = 'E';
-- name: filter: ltrim(d.country) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE ltrim(d.country) = 'DE';
-- name: filter: btrim(d.country) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE btrim(d.country) = 'DE';
-- name: filter: rpad(d.code, 4, '0') = '4400'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE rpad(d.code, 4, '0') = '4400';
-- name: filter: char_length(d.code) = 2 AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE char_length(d.code) = 2 AND d.size > 60;
-- name: filter: octet_length(d.code) = 2 AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE octet_length(d.code) = 2 AND d.size > 60;
-- name: filter: bit_length(d.code) = 16 AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE bit_length(d.code) = 16 AND d.size > 60;
-- name: filter: chr(d.port + 60) = '@'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE chr(d.port + 60) = '@';
-- name: filter: levenshtein(d.country, 'DX') = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE levenshtein(d.country, 'DX') = 1;
-- name: filter: levenshtein(d.country, 'DX', 3) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE levenshtein(d.country, 'DX', 3) = 1;
-- name: filter: sha1(d.country) = sha1('DE')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE sha1(d.country) = sha1('DE');
-- name: filter: base64(d.country) = base64('DE')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE base64(d.country) = base64('DE');
-- name: filter: unbase64(base64(d.country)) = CAST('DE' AS BINARY)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE unbase64(base64(d.country)) = CAST('DE' AS BINARY);
-- name: filter: hex(d.port) = '4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE hex(d.port) = '4';
-- name: filter: unhex('4445') = CAST(d.country AS BINARY)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE unhex('4445') = CAST(d.country AS BINARY);
-- name: filter: encode(d.country, 'UTF-8') = CAST('DE' AS BINARY)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE encode(d.country, 'UTF-8') = CAST('DE' AS BINARY);
-- name: filter: decode(encode(d.country, 'UTF-8'), 'UTF-8') = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE decode(encode(d.country, 'UTF-8'), 'UTF-8') = 'DE';
-- name: filter: to_binary(d.country, 'UTF-8') = CAST('DE' AS BINARY)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_binary(d.country, 'UTF-8') = CAST('DE' AS BINARY);
-- name: filter: try_to_binary(d.country, 'UTF-8') = CAST('DE' AS BINARY)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_to_binary(d.country, 'UTF-8') = CAST('DE' AS BINARY);
-- name: filter: to_number(d.code, '99') = 44
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_number(d.code, '99') = 44;
-- name: filter: try_to_number(d.code, '99') = 44
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_to_number(d.code, '99') = 44;
-- name: filter: to_char(d.size, '999') = ' 40'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_char(d.size, '999') = ' 40';
-- name: filter: to_varchar(d.size, '999') = ' 40'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_varchar(d.size, '999') = ' 40';
-- name: filter: format_number(d.size, 2) = '40.00'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE format_number(d.size, 2) = '40.00';
-- name: filter: format_string('%d-%s', d.port, d.country) = '4-DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE format_string('%d-%s', d.port, d.country) = '4-DE';
-- name: filter: printf('%s', d.country) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE printf('%s', d.country) = 'DE';
-- name: filter: luhn_check(d.code)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE luhn_check(d.code);
-- name: filter: is_valid_utf8(d.country) AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE is_valid_utf8(d.country) AND d.size > 60;
-- name: filter: mask(d.country) = 'XX' AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE mask(d.country) = 'XX' AND d.size > 60;
-- name: filter: elt(2, d.country, d.region) = 'r1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE elt(2, d.country, d.region) = 'r1';
-- name: filter: find_in_set(d.country, 'DE,NL') = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE find_in_set(d.country, 'DE,NL') = 1;
-- name: filter: nullif(d.country, 'DE') IS NULL AND d.size > 10
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE nullif(d.country, 'DE') IS NULL AND d.size > 10;
-- name: filter: nvl(d.country, 'DE') = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE nvl(d.country, 'DE') = 'DE';
-- name: filter: nvl2(d.country, d.size, d.port) = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE nvl2(d.country, d.size, d.port) = 40;
-- name: filter: ifnull(d.country, 'x') = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE ifnull(d.country, 'x') = 'DE';
-- name: filter: if(d.size > 30, d.country, d.region) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE if(d.size > 30, d.country, d.region) = 'DE';
-- name: filter: CASE WHEN d.size > 30 THEN d.country ELSE d.region END = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CASE WHEN d.size > 30 THEN d.country ELSE d.region END = 'DE';
-- name: filter: CASE d.country WHEN 'DE' THEN d.size ELSE d.port END = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CASE d.country WHEN 'DE' THEN d.size ELSE d.port END = 40;
-- name: filter: decode(d.country, 'DE', d.size, d.port) = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE decode(d.country, 'DE', d.size, d.port) = 40;
-- name: filter: greatest(d.size, 35) = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE greatest(d.size, 35) = 40;
-- name: filter: least(d.size, 35) = 20
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE least(d.size, 35) = 20;
-- name: filter: abs(d.size - 45) = 5
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE abs(d.size - 45) = 5;
-- name: filter: sign(d.size - 45) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE sign(d.size - 45) = 1;
-- name: filter: positive(d.size) = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE positive(d.size) = 40;
-- name: filter: negative(d.size) = -40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE negative(d.size) = -40;
-- name: filter: round(d.size / 3, 1) = 13.3
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE round(d.size / 3, 1) = 13.3;
-- name: filter: bround(d.size / 3, 1) = 13.3
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE bround(d.size / 3, 1) = 13.3;
-- name: filter: ceiling(d.size / 30) = 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE ceiling(d.size / 30) = 2;
-- name: filter: sqrt(d.size) > 8
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE sqrt(d.size) > 8;
-- name: filter: power(d.port, 2) = 16
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE power(d.port, 2) = 16;
-- name: filter: pow(d.port, 2) = 16
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE pow(d.port, 2) = 16;
-- name: filter: exp(d.port) < 10
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE exp(d.port) < 10;
-- name: filter: log(2, d.size) > 6
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE log(2, d.size) > 6;
-- name: filter: log2(d.size) > 6
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE log2(d.size) > 6;
-- name: filter: cbrt(d.size) > 4
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE cbrt(d.size) > 4;
-- name: filter: sin(d.port) > 0.9
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE sin(d.port) > 0.9;
-- name: filter: degrees(d.port) > 400
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE degrees(d.port) > 400;
-- name: filter: radians(d.port) > 0.1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE radians(d.port) > 0.1;
-- name: filter: hypot(d.port, 3) = 5
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE hypot(d.port, 3) = 5;
-- name: filter: factorial(d.port) = 24
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE factorial(d.port) = 24;
-- name: filter: width_bucket(d.size, 0, 100, 10) = 5
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE width_bucket(d.size, 0, 100, 10) = 5;
-- name: filter: pmod(d.size, 30) = 10
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE pmod(d.size, 30) = 10;
-- name: filter: d.size div 30 = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size div 30 = 1;
-- name: filter: d.size & 8 = 8
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size & 8 = 8;
-- name: filter: bit_count(d.port) = 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE bit_count(d.port) = 2;
-- name: filter: getbit(d.port, 2) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE getbit(d.port, 2) = 1;
-- name: filter: bit_get(d.port, 2) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE bit_get(d.port, 2) = 1;
-- name: filter: shiftleft(d.port, 1) = 8
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE shiftleft(d.port, 1) = 8;
-- name: filter: d.port << 1 = 8
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.port << 1 = 8;
-- name: filter: d.size BETWEEN 30 AND 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size BETWEEN 30 AND 40;
-- name: filter: d.size NOT BETWEEN 30 AND 80
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size NOT BETWEEN 30 AND 80;
-- name: filter: d.country IS DISTINCT FROM 'US' AND d.size > 20
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country IS DISTINCT FROM 'US' AND d.size > 20;
-- name: filter: d.country IS NOT DISTINCT FROM 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country IS NOT DISTINCT FROM 'DE';
-- name: filter: isnotnull(d.country) AND d.size = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE isnotnull(d.country) AND d.size = 40;
-- name: filter: isnan(d.size / 1D) OR d.size = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE isnan(d.size / 1D) OR d.size = 40;
-- name: filter: NOT (d.country = 'US' OR d.country = 'NL')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE NOT (d.country = 'US' OR d.country = 'NL');
-- name: filter: (d.country, d.size) = ('DE', 40)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE (d.country, d.size) = ('DE', 40);
-- name: filter: d.open = true AND d.size = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.open = true AND d.size = 40;
-- name: filter: d.since > DATE '2022-01-01'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since > DATE '2022-01-01';
-- name: filter: d.since > '2022-01-01'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since > '2022-01-01';
-- name: filter: d.since BETWEEN DATE '2021-01-01' AND DATE '2021-12-31'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since BETWEEN DATE '2021-01-01' AND DATE '2021-12-31';
-- name: filter: d.since > current_date() - INTERVAL 1000 DAYS
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since > current_date() - INTERVAL 1000 DAYS;
-- name: filter: d.since > date_sub(current_date(), 2000)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since > date_sub(current_date(), 2000);
-- name: filter: d.since < now()
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since < now();
-- name: filter: year(d.since) = 2021
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE year(d.since) = 2021;
-- name: filter: extract(YEAR FROM d.since) = 2021
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE extract(YEAR FROM d.since) = 2021;
-- name: filter: date_part('year', d.since) = 2021
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE date_part('year', d.since) = 2021;
-- name: filter: datepart('month', d.since) = 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE datepart('month', d.since) = 2;
-- name: filter: quarter(d.since) = 1
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE quarter(d.since) = 1;
-- name: filter: month(d.since) = 2
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE month(d.since) = 2;
-- name: filter: day(d.since) = 4
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE day(d.since) = 4;
-- name: filter: dayofmonth(d.since) = 4
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE dayofmonth(d.since) = 4;
-- name: filter: dayofweek(d.since) = 5
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE dayofweek(d.since) = 5;
-- name: filter: dayofyear(d.since) = 35
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE dayofyear(d.since) = 35;
-- name: filter: weekday(d.since) = 3
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE weekday(d.since) = 3;
-- name: filter: weekofyear(d.since) = 5
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE weekofyear(d.since) = 5;
-- name: filter: dayname(d.since) = 'Thu'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE dayname(d.since) = 'Thu';
-- name: filter: monthname(d.since) = 'Feb'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE monthname(d.since) = 'Feb';
-- name: filter: date_format(d.since, 'yyyy-MM') = '2021-02'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE date_format(d.since, 'yyyy-MM') = '2021-02';
-- name: filter: date_trunc('YEAR', d.since) = TIMESTAMP '2021-01-01 00:00:00'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE date_trunc('YEAR', d.since) = TIMESTAMP '2021-01-01 00:00:00';
-- name: filter: datediff(d.since, DATE '2020-01-01') = 400
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE datediff(d.since, DATE '2020-01-01') = 400;
-- name: filter: date_diff(d.since, DATE '2020-01-01') = 400
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE date_diff(d.since, DATE '2020-01-01') = 400;
-- name: filter: months_between(d.since, DATE '2020-01-01') > 20
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE months_between(d.since, DATE '2020-01-01') > 20;
-- name: filter: add_months(d.since, 1) = DATE '2021-03-04'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE add_months(d.since, 1) = DATE '2021-03-04';
-- name: filter: last_day(d.since) = DATE '2021-02-28'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE last_day(d.since) = DATE '2021-02-28';
-- name: filter: next_day(d.since, 'MON') = DATE '2021-02-08'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE next_day(d.since, 'MON') = DATE '2021-02-08';
-- name: filter: date_add(d.since, 1) = DATE '2021-02-05'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE date_add(d.since, 1) = DATE '2021-02-05';
-- name: filter: dateadd(d.since, 1) = DATE '2021-02-05'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE dateadd(d.since, 1) = DATE '2021-02-05';
-- name: filter: dateadd(DAY, 1, d.since) = DATE '2021-02-05'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE dateadd(DAY, 1, d.since) = DATE '2021-02-05';
-- name: filter: timestampadd(MONTH, 1, d.since) = TIMESTAMP '2021-03-04 00:00:00'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE timestampadd(MONTH, 1, d.since) = TIMESTAMP '2021-03-04 00:00:00';
-- name: filter: d.since + 1 = DATE '2021-02-05'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since + 1 = DATE '2021-02-05';
-- name: filter: d.since - DATE '2020-01-01' = INTERVAL '400' DAY
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.since - DATE '2020-01-01' = INTERVAL '400' DAY;
-- name: filter: unix_date(d.since) = 18662
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE unix_date(d.since) = 18662;
-- name: filter: make_dt_interval(d.port) = INTERVAL '4' DAY
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE make_dt_interval(d.port) = INTERVAL '4' DAY;
-- name: filter: make_ym_interval(d.port) = INTERVAL '4' YEAR
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE make_ym_interval(d.port) = INTERVAL '4' YEAR;
-- name: filter: try_to_timestamp(concat('2020-0', d.port, '-01')) = TIMESTAMP '2020-04-01 00:00:00'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_to_timestamp(concat('2020-0', d.port, '-01')) = TIMESTAMP '2020-04-01 00:00:00';
-- name: filter: unix_timestamp(d.since) > 1600000000
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE unix_timestamp(d.since) > 1600000000;
-- name: filter: to_unix_timestamp(d.since) > 1600000000
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_unix_timestamp(d.since) > 1600000000;
-- name: filter: from_unixtime(d.size) > '1970-01-01 00:01'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE from_unixtime(d.size) > '1970-01-01 00:01';
-- name: filter: timestamp_seconds(d.size) = TIMESTAMP '1970-01-01 00:00:40'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE timestamp_seconds(d.size) = TIMESTAMP '1970-01-01 00:00:40';
-- name: filter: timestamp_millis(d.size) < TIMESTAMP '1970-01-01 00:00:40'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE timestamp_millis(d.size) < TIMESTAMP '1970-01-01 00:00:40';
-- name: filter: unix_seconds(CAST(d.since AS TIMESTAMP)) > 1600000000
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE unix_seconds(CAST(d.since AS TIMESTAMP)) > 1600000000;
-- name: filter: from_utc_timestamp(d.since, 'UTC') > TIMESTAMP '2021-02-04 00:00:00'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE from_utc_timestamp(d.since, 'UTC') > TIMESTAMP '2021-02-04 00:00:00';
-- name: filter: to_utc_timestamp(d.since, 'Asia/Tokyo') > TIMESTAMP '2021-02-04 00:00:00'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_utc_timestamp(d.since, 'Asia/Tokyo') > TIMESTAMP '2021-02-04 00:00:00';
-- name: filter: convert_timezone('UTC', 'Asia/Tokyo', CAST(d.since AS TIMESTAMP_NTZ)) > TIMESTAMP_NTZ '2021-02-04 00:00:00'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE convert_timezone('UTC', 'Asia/Tokyo', CAST(d.since AS TIMESTAMP_NTZ)) > TIMESTAMP_NTZ '2021-02-04 00:00:00';
-- name: filter: window(d.since, '1 day').start > TIMESTAMP '2021-02-04 00:00:00'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE window(d.since, '1 day').start > TIMESTAMP '2021-02-04 00:00:00';
-- name: filter: d.code::int > 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.code::int > 40;
-- name: filter: string(d.size) = '40'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE string(d.size) = '40';
-- name: filter: CAST(d.size AS DECIMAL(5,1)) = 40.0
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CAST(d.size AS DECIMAL(5,1)) = 40.0;
-- name: filter: decimal(d.size) = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE decimal(d.size) = 40;
-- name: filter: double(d.size) > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE double(d.size) > 60;
-- name: filter: CAST(d.size AS BOOLEAN) AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE CAST(d.size AS BOOLEAN) AND d.size > 60;
-- name: filter: d.size + 10 > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size + 10 > 60;
-- name: filter: d.size - 10 > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size - 10 > 60;
-- name: filter: try_add(d.size, 10) > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_add(d.size, 10) > 60;
-- name: filter: try_subtract(d.size, 10) > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_subtract(d.size, 10) > 60;
-- name: filter: try_multiply(d.size, 2) > 120
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_multiply(d.size, 2) > 120;
-- name: filter: try_divide(d.size, 2) > 30
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_divide(d.size, 2) > 30;
-- name: filter: try_mod(d.size, 30) = 10
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_mod(d.size, 30) = 10;
-- name: filter: d.size > 60 AND d.size < 1000 / d.port
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.size > 60 AND d.size < 1000 / d.port;
-- name: filter: 1000 / d.size > 20
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE 1000 / d.size > 20;
-- name: filter: concat(d.country, d.region) = 'DEr1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE concat(d.country, d.region) = 'DEr1';
-- name: filter: d.country COLLATE UTF8_LCASE = 'de'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country COLLATE UTF8_LCASE = 'de';
-- name: filter: collate(d.country, 'UTF8_LCASE') = 'de'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE collate(d.country, 'UTF8_LCASE') = 'de';
-- name: filter: typeof(d.country) = 'string' AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE typeof(d.country) = 'string' AND d.size > 60;
-- name: filter: get_json_object(to_json(d.info), '$.code') = '4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE get_json_object(to_json(d.info), '$.code') = '4';
-- name: filter: json_array_length(to_json(d.tags)) = 2 AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE json_array_length(to_json(d.tags)) = 2 AND d.size > 60;
-- name: filter: json_object_keys(to_json(d.info))[0] = 'code' AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE json_object_keys(to_json(d.info))[0] = 'code' AND d.size > 60;
-- name: filter: to_json(d.info) = '{"code":4,"name":"n4"}'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_json(d.info) = '{"code":4,"name":"n4"}';
-- name: filter: schema_of_json('{"a":1}') = 'STRUCT<a: BIGINT>' AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE schema_of_json('{"a":1}') = 'STRUCT<a: BIGINT>' AND d.size > 60;
-- name: filter: to_csv(d.info) = '4,n4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE to_csv(d.info) = '4,n4';
-- name: filter: from_csv(concat(d.code, ',x'), 'a INT, b STRING').a = 44
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE from_csv(concat(d.code, ',x'), 'a INT, b STRING').a = 44;
-- name: filter: xpath_string(concat('<a>', d.code, '</a>'), 'a') = '44'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE xpath_string(concat('<a>', d.code, '</a>'), 'a') = '44';
-- name: filter: parse_json(to_json(d.info)):code::int = 4
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE parse_json(to_json(d.info)):code::int = 4;
-- name: filter: variant_get(parse_json(to_json(d.info)), '$.code', 'int') = 4
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE variant_get(parse_json(to_json(d.info)), '$.code', 'int') = 4;
-- name: filter: try_variant_get(try_parse_json(to_json(d.info)), '$.code', 'int') = 4
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_variant_get(try_parse_json(to_json(d.info)), '$.code', 'int') = 4;
-- name: filter: try_parse_json(to_json(d.info)) IS NOT NULL AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_parse_json(to_json(d.info)) IS NOT NULL AND d.size > 60;
-- name: filter: url_encode(d.country) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE url_encode(d.country) = 'DE';
-- name: filter: url_decode(d.country) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE url_decode(d.country) = 'DE';
-- name: filter: try_url_decode(d.country) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE try_url_decode(d.country) = 'DE';
-- name: filter: parse_url(concat('http://', d.country, '.com/x'), 'HOST') = 'DE.com'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE parse_url(concat('http://', d.country, '.com/x'), 'HOST') = 'DE.com';
-- name: filter: array(d.country, d.region)[1] = 'r1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array(d.country, d.region)[1] = 'r1';
-- name: filter: map(d.country, d.size)['DE'] = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map(d.country, d.size)['DE'] = 40;
-- name: filter: map_concat(d.extra, map('a', d.country))['a'] = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map_concat(d.extra, map('a', d.country))['a'] = 'DE';
-- name: filter: map_filter(d.extra, (k, v) -> v = 'z1')['zone'] = 'z1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map_filter(d.extra, (k, v) -> v = 'z1')['zone'] = 'z1';
-- name: filter: transform_values(d.extra, (k, v) -> upper(v))['zone'] = 'Z1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE transform_values(d.extra, (k, v) -> upper(v))['zone'] = 'Z1';
-- name: filter: transform_keys(d.extra, (k, v) -> upper(k))['ZONE'] = 'z1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE transform_keys(d.extra, (k, v) -> upper(k))['ZONE'] = 'z1';
-- name: filter: map_zip_with(d.extra, d.extra, (k, a, b) -> a || b)['zone'] = 'z1z1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map_zip_with(d.extra, d.extra, (k, a, b) -> a || b)['zone'] = 'z1z1';
-- name: filter: map_entries(d.extra)[0].value = 'z1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE map_entries(d.extra)[0].value = 'z1';
-- name: filter: zip_with(d.tags, d.tags, (a, b) -> a || b)[0] = 't4t4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE zip_with(d.tags, d.tags, (a, b) -> a || b)[0] = 't4t4';
-- name: filter: array_union(d.tags, array('q'))[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_union(d.tags, array('q'))[0] = 't4';
-- name: filter: array_intersect(d.tags, array('t4'))[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_intersect(d.tags, array('t4'))[0] = 't4';
-- name: filter: array_except(d.tags, array('x'))[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_except(d.tags, array('x'))[0] = 't4';
-- name: filter: array_remove(d.tags, 'x')[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_remove(d.tags, 'x')[0] = 't4';
-- name: filter: array_append(d.tags, 'q')[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_append(d.tags, 'q')[0] = 't4';
-- name: filter: array_prepend(d.tags, 'q')[1] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_prepend(d.tags, 'q')[1] = 't4';
-- name: filter: array_insert(d.tags, 1, 'q')[1] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_insert(d.tags, 1, 'q')[1] = 't4';
-- name: filter: array_compact(d.tags)[0] = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_compact(d.tags)[0] = 't4';
-- name: filter: array_max(d.tags) = 'x' AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_max(d.tags) = 'x' AND d.size > 60;
-- name: filter: array_min(d.tags) = 't4'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_min(d.tags) = 't4';
-- name: filter: array_repeat(d.country, 2)[1] = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE array_repeat(d.country, 2)[1] = 'DE';
-- name: filter: sequence(1, d.port)[0] = 1 AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE sequence(1, d.port)[0] = 1 AND d.size > 60;
-- name: filter: size(sequence(1, d.port)) = 4
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE size(sequence(1, d.port)) = 4;
-- name: filter: quote(d.country) = '''DE'''
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE quote(d.country) = '''DE''';
-- name: filter: sentences(d.country)[0][0] = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE sentences(d.country)[0][0] = 'DE';
-- name: filter: space(d.port) = '    '
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE space(d.port) = '    ';
-- name: filter: left(d.region, 1) = 'r' AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE left(d.region, 1) = 'r' AND d.size > 60;
-- name: filter: right(d.region, 1) = '1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE right(d.region, 1) = '1';
-- name: filter: substr(d.region, 2) = '1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE substr(d.region, 2) = '1';
-- name: filter: substring(d.region FROM 2 FOR 1) = '1'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE substring(d.region FROM 2 FOR 1) = '1';
-- name: filter: len(d.code) = 2 AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE len(d.code) = 2 AND d.size > 60;
-- name: filter: like(d.country, 'D%')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE like(d.country, 'D%');
-- name: filter: ilike(d.country, 'd%')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE ilike(d.country, 'd%');
-- name: filter: rlike(d.country, '^D')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE rlike(d.country, '^D');
-- name: filter: d.country LIKE ANY ('D%', 'N%')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country LIKE ANY ('D%', 'N%');
-- name: filter: d.country NOT LIKE ALL ('U%', 'N%')
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country NOT LIKE ALL ('U%', 'N%');
-- name: filter: d.country LIKE 'D!_%' ESCAPE '!' OR d.size = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.country LIKE 'D!_%' ESCAPE '!' OR d.size = 40;
-- name: filter: bitmap_bucket_number(d.port) = 1 AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE bitmap_bucket_number(d.port) = 1 AND d.size > 60;
-- name: filter: current_user() <> '' AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE current_user() <> '' AND d.size > 60;
-- name: filter: current_timezone() <> '' AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE current_timezone() <> '' AND d.size > 60;
-- name: filter: version() <> '' AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE version() <> '' AND d.size > 60;
-- name: filter: assert_true(d.port > 0) IS NULL AND d.size > 60
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE assert_true(d.port > 0) IS NULL AND d.size > 60;
-- name: filter: validate_utf8(d.country) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE validate_utf8(d.country) = 'DE';
-- name: filter: make_valid_utf8(d.country) = 'DE'
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE make_valid_utf8(d.country) = 'DE';
-- name: filter: nullifzero(d.size) = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE nullifzero(d.size) = 40;
-- name: filter: zeroifnull(d.size) = 40
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE zeroifnull(d.size) = 40;
-- name: filter: d.port IN (SELECT b.port FROM berths b WHERE b.berth > 30)
SELECT f.landed FROM landings f JOIN ports d ON f.port = d.port WHERE d.port IN (SELECT b.port FROM berths b WHERE b.berth > 30);
