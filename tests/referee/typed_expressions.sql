CAST(1 AS SMALLINT) + d3 -- decimal(6,0)
CAST('1' AS INT) * d3 -- decimal(14,0)
1S + d3 -- decimal(4,0)
-1L - d -- decimal(11,2)
CAST(-1 AS INT) + d -- decimal(13,2)
-(1) + d3 -- decimal(11,0)
+1 + d3 -- decimal(11,0)
1BD -- decimal(1,0)
1BD + 1 -- decimal(2,0)
1e35BD -- decimal(36,0)
1e3BD / d3 -- decimal(10,6)
-1.230E-26BD -- decimal(29,29)
5e36BD + 0.1 -- decimal(38,1)
1.50BD -- decimal(3,2)
1e3 -- double
1.5D + d -- double
1Y % 1.5 -- decimal(2,1)
-1::STRING -- string
- 1::SMALLINT + 1.5 -- decimal(7,1)
-1L::DECIMAL(3,0) -- decimal(3,0)
DATE '2020-01-01'::STRING -- string
TIME '00:01:52'::TINYINT -- tinyint
CAST(NULL AS STRUCT<A: INT, `b c`: CHAR(3)>) -- struct<A:int,b c:string>
CAST(NULL AS ARRAY<STRING COLLATE UNICODE>) -- array<string collate UNICODE>
lpad(x, 5, 'abc') -- string
rpad(x, 5, x'41') -- binary
lpad(x, 5) -- binary
lpad(h, 5, 'a') -- string
rpad(c, 5, u) -- string collate null
upper(u) -- string collate UTF8_LCASE
concat(u, 'a') -- string collate UTF8_LCASE
lower(c COLLATE utf8_lcase) -- string collate UTF8_LCASE
trim(c COLLATE utf8_lcase) -- string collate UTF8_LCASE
make_valid_utf8(c COLLATE utf8_lcase) -- string collate UTF8_LCASE
date_part(NULL, dt) -- double
transform(a, Q -> struct(Q, i)) -- array<struct<Q:int,i:int>>
map_zip_with(m, m, (k, V1, v2) -> (k, V1, v2)) -- map<string,struct<k:string,V1:int,v2:int>>
struct(I, 1, CAST(i AS BIGINT), d3 AS N) -- struct<I:int,col2:int,col3:bigint,N:decimal(3,0)>
h -- string
v -- string
coalesce(h, v) -- string
array(h) -- array<string>
(SELECT max(h) FROM t) -- string
coalesce(d3, 1) -- decimal(10,0)
CASE WHEN z THEN d ELSE 1L END -- decimal(22,2)
coalesce(i, c) -- bigint | string
c + 1 -- bigint | double
dt - dt -- interval day
ts - dt -- interval day to second
dt + INTERVAL '1' HOUR -- timestamp
sum(d) OVER (ORDER BY i) -- decimal(20,2)
round(w, 2) -- decimal(23,2)
greatest(i, d) -- decimal(12,2)
st -- struct<A:int,b:string>
struct(st) -- struct<st:struct<A:int,b:string>>
coalesce(st, st) -- struct<A:int,b:string>
named_struct('K', d3, 'v', v) -- struct<K:decimal(3,0),v:string>
array(st) -- array<struct<A:int,b:string>>
lag(1.50, 1, d3) OVER (ORDER BY i) -- decimal(3,2)
lead(i, 1, 1.5) OVER (ORDER BY i) -- int
current_time(3) -- time(3)
localtime -- time(6)
time_trunc('HOUR', CAST(c AS TIME(3))) -- time(3)
time_trunc('HOUR', c) -- time(6)
make_timestamp(dt, TIME'12:00') -- timestamp
make_timestamp_ntz(dt, TIME'12:00') -- timestamp_ntz
timestampadd(HOUR, 1, n) -- timestamp_ntz
timestampadd(HOUR, 1, dt) -- timestamp
regr_avgx(i, d) -- decimal(14,6)
regr_avgy(i, d) -- double
bit_and(NULL) -- int
bit_or(y) -- tinyint
w << 1 -- int
l >> 1 -- bigint
array_append(array(f), i) -- array<float>
array_union(array(i), array(f)) -- array<float>
array_remove(array(f), l) -- array<float>
array(f, i) -- array<double> | array<float>
sum(d) FILTER (WHERE z) -- decimal(20,2)
max(h) FILTER (WHERE z) OVER (PARTITION BY i) -- string
count(DISTINCT i, c) FILTER (WHERE z) -- bigint
listagg(DISTINCT v, ',') WITHIN GROUP (ORDER BY v) -- string
mode() WITHIN GROUP (ORDER BY d DESC) -- decimal(10,2)
percentile_cont(array(0.5)) WITHIN GROUP (ORDER BY i) -- array<double>
percentile_disc(0.5) WITHIN GROUP (ORDER BY dt - dt) -- interval day to second
upper(u) || trim(u) -- string collate UTF8_LCASE
soundex(u) -- string
ceil(d3) -- decimal(3,0)
floor(d) -- decimal(9,0)
ceiling(1e35BD) -- decimal(36,0)
unix_nanos(NULL) -- decimal(21,0)
