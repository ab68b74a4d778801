"""Random programs of Python that do something to names, and then run a query of a fact and a
dimension.

The dimension that they make beside the table has keys of another type, so that a predicate that is
written as if it were the table loses rows. Each part of a program is a way to make the view, in a
frame: what stands around it, and may run it or not.
"""

from __future__ import annotations

import random

TABLES = (
    "CREATE TABLE sales (item INT, day INT) USING parquet PARTITIONED BY (day)",
    "CREATE TABLE dates (day INT, season STRING) USING parquet",
)
ROWS = (
    "INSERT INTO sales VALUES (1, 10), (2, 20), (3, 30), (4, 10)",
    "INSERT INTO dates VALUES (10, 'winter'), (20, 'summer'), (30, 'winter')",
)
QUERY = "SELECT s.item FROM sales s JOIN dates d ON d.day = s.day WHERE d.season = 'winter'"
VIEW = (
    "SELECT '0' || day AS day, season FROM VALUES (10, 'winter'), (20, 'winter') AS t(day, season)"
)
HEAD = f"""\
from contextlib import suppress
from functools import partial
import textwrap
def build(text="{VIEW}"): return text
def name(text="dates"): return text
def run(text): return spark.sql(text)
n, x, y = "dates", 1, 0
df = spark.sql("{VIEW}")
"""

WAYS = (
    'spark.sql("CREATE OR REPLACE TEMP VIEW dates AS " + build())',
    'spark.sql(f"CREATE OR REPLACE TEMP VIEW dates AS {build()}")',
    'spark.sql("CREATE OR REPLACE TEMP VIEW " + name() + " AS " + build())',
    f'spark.sql(f"CREATE OR REPLACE TEMP VIEW {{n}} AS {VIEW}")',
    f'spark.sql("CREATE OR REPLACE TEMP VIEW IDENTIFIER(:n) AS {VIEW}", {{"n": n}})',
    f"spark.sql(\"CREATE OR REPLACE TEMP VIEW IDENTIFIER('da' || 'tes') AS {VIEW}\")",
    f'spark.sql("CACHE TABLE da%s AS {VIEW}" % "tes")',
    f'spark.sql(textwrap.dedent("CREATE OR REPLACE TEMP VIEW dates AS {VIEW}"))',
    f'run("CREATE OR REPLACE TEMP VIEW dates AS {VIEW}")',
    'df.createOrReplaceTempView("dates")',
    "df.createOrReplaceTempView(n)",
    'df.createOrReplaceTempView(f"da{"tes"}")',
    'df.createOrReplaceTempView(name="dates")',
    'df.createOrReplaceTempView(*["dates"])',
    '(lambda register: register("dates"))(df.createOrReplaceTempView)',
    'getattr(df, "createOrReplaceTempView")("dates")',
    'partial(df.createOrReplaceTempView, "dates")()',
    'df.createOrReplaceTempView("other") or spark.sql("ALTER VIEW other RENAME TO dates")',
)
FRAMES = (
    "{}",
    "if x:\n    {}",
    "if y:\n    {}",
    "for i in range(x):\n    {}",
    "with suppress(ZeroDivisionError):\n    1 / y\n    {}",
    "with suppress(ZeroDivisionError):\n    1 / x\n    {}",
    "try:\n    1 / y\n    {}\nexcept ZeroDivisionError:\n    pass",
    "try:\n    {}\nfinally:\n    pass",
    "def step():\n    {}\nstep()",
    "def step():\n    {}",
    "x and {}",
    "y and {}",
    "[{} for i in range(x)]",
    "1 if y else {}",
    "match x:\n    case 1:\n        {}",
    "(lambda: {})()",
    "spark.range(1).join(spark.range(1)); {}",
)
HARMLESS = (
    'spark.sql("CREATE OR REPLACE TEMP VIEW others AS " + build())',
    'df.createOrReplaceTempView("others")',
    'df.createOrReplaceTempView(f"tmp_{x}")',
    'spark.sql("SELECT " + str(x)).collect()',
    'spark.read.table("sales").count()',
    'spark.conf.set("spark.sql.shuffle.partitions", x)',
)


def random_program(rng: random.Random) -> tuple[str, bool]:
    """A program that leaves what its query gives in ``rows``, and whether it may hide a table."""
    hides = rng.random() < 0.75
    steps = [rng.choice(FRAMES).format(rng.choice(HARMLESS)) for _ in range(rng.randrange(3))]
    if hides:
        steps.append(rng.choice(FRAMES).format(rng.choice(WAYS)))
    rng.shuffle(steps)
    return "\n".join([HEAD, *steps, f'rows = spark.sql("{QUERY}").collect()\n']), hides
