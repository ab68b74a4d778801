"""Small random data for the retail schema of `fixtures/retail/ddl.sql`, in DuckDB.

In: an empty DuckDB connection, a seed and a size. Out: nothing; all tables and views of the schema
exist and are filled. The data has what makes a wrong rewrite show: NULL partition keys, days that
the calendar lacks, duplicate and NULL keys in the dimensions without a primary key, days crowded
where the filters of `fixtures/retail/queries` look.
"""

import datetime as dt
import decimal
import random
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias, TypeVar

import duckdb
import sqlglot
from sqlglot import exp

DDL = Path(__file__).parents[2] / "fixtures" / "retail" / "ddl.sql"

Value: TypeAlias = bool | int | str | decimal.Decimal | dt.date | list[int] | list[str] | None
Row: TypeAlias = tuple[Value, ...]
T = TypeVar("T")

FIRST_DAY = dt.date(2024, 1, 1)
LAST_DAY = dt.date(2025, 12, 31)
BEFORE_THE_CALENDAR = dt.date(2021, 6, 1)

CALENDAR = """
INSERT INTO calendar
SELECT
  day,
  CAST(strftime(day, '%Y%m%d') AS INTEGER),
  strftime(day, '%Y-%m-%d'),
  year(day),
  quarter(day),
  month(day),
  week(day),
  CAST(date_trunc('week', day) AS DATE),
  isodow(day),
  strftime(day, '%m-%d') IN
    ('01-01', '05-01', '10-03', '11-01', '12-25', '12-26') OR day = DATE '2024-11-29',
  last_day(day) = day,
  CASE WHEN year(day) >= 2024 THEN
    CASE WHEN month(day) IN (12, 1, 2) THEN 'winter' WHEN month(day) <= 5 THEN 'spring'
         WHEN month(day) <= 8 THEN 'summer' ELSE 'autumn' END END,
  day - 364
FROM (
  SELECT CAST(unnest(generate_series(
    TIMESTAMP '2023-01-01', greatest(DATE '2026-12-31', current_date + 60), INTERVAL 1 DAY
  )) AS DATE) AS day
)
"""


def load(connection: duckdb.DuckDBPyConnection, seed: int, rows: int) -> None:
    """Create the retail tables and views in `connection` and fill them.

    `rows` is the number of `sales` lines; the other facts are in proportion (half as many returns,
    twice as many stock counts, as many clicks). Dimensions do not grow with it. The same seed and
    size give the same rows on the same day: some facts fall into the four weeks before the
    connection's `current_date`, for the queries that ask about those.
    """
    for statement in _duckdb_ddl():
        connection.execute(statement)
    today = _today(connection)
    rng = random.Random(seed)
    connection.execute(CALENDAR)
    stores, products = _stores(rng), _products(rng)
    _insert(connection, "store", stores)
    _insert(connection, "product", products)
    _insert(connection, "customer", _customers(rng))
    _insert(connection, "promotion", _promotions())
    _insert(connection, "holiday", _holidays())
    _insert(connection, "load_log", _load_log(today))
    sales = [_sale(rng, today) for _ in range(rows)]
    _insert(connection, "sales", sales)
    returned = [(number, rng.choice(sales)) for number in range(rows // 2) if sales]
    _insert(connection, "returns", [_return(rng, number, sale) for number, sale in returned])
    _insert(connection, "inventory", [_stock(rng, today, stores) for _ in range(2 * rows)])
    _insert(connection, "clickstream", _clicks(rng, today, sales))
    connection.execute(
        "INSERT INTO daily_store_sales "
        # One store's days are a cent off, for the query that compares the mart with the receipts.
        "SELECT store_id, SUM(amount) + CASE WHEN store_id = 1 THEN 0.01 ELSE 0 END, "
        "COUNT(DISTINCT sale_id), day FROM sales GROUP BY store_id, day"
    )


@cache
def _duckdb_ddl() -> tuple[str, ...]:
    """The Spark DDL as DuckDB statements: partition columns become plain last columns."""
    statements: list[str] = []
    for create in sqlglot.parse(DDL.read_text(encoding="utf-8"), read="spark"):
        assert isinstance(create, exp.Create)
        schema = create.this
        if create.kind == "TABLE":
            columns = list(schema.find_all(exp.ColumnDef))
            for partitioned in create.find_all(exp.PartitionedByProperty):
                columns += partitioned.find_all(exp.ColumnDef)
            keys = [key.sql("duckdb") for key in schema.find_all(exp.PrimaryKey)]
            parts = [_column(column) for column in columns] + keys
            statements.append(f'CREATE TABLE "{schema.this.name}" ({", ".join(parts)})')
        else:
            view = create.copy()
            view.set("properties", None)
            statements.append(view.sql("duckdb"))
    return tuple(statements)


def _column(column: exp.ColumnDef) -> str:
    kind = column.kind
    assert kind is not None
    # sqlglot reads Spark's TIMESTAMP as one with time zone, which DuckDB cannot fetch without pytz.
    name = kind.sql("duckdb").replace("TIMESTAMPTZ", "TIMESTAMP")
    required = " NOT NULL" if column.find(exp.NotNullColumnConstraint) else ""
    return f'"{column.name}" {name}{required}'


def _today(connection: duckdb.DuckDBPyConnection) -> dt.date:
    row = connection.execute("SELECT current_date").fetchone()
    assert row is not None
    today = row[0]
    assert isinstance(today, dt.date)
    return today


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Row]) -> None:
    """One INSERT of literals: much quicker than `executemany`, and needs no pandas or pyarrow."""
    if rows:
        values = ",\n".join(f"({_literals(row)})" for row in rows)
        connection.execute(f'INSERT INTO "{table}" VALUES {values}')


def _literals(values: Iterable[Value]) -> str:
    return ", ".join(map(_literal, values))


def _literal(value: Value) -> str:
    match value:
        case None:
            return "NULL"
        case bool() | int() | decimal.Decimal():
            return str(value)
        case list():
            return f"[{_literals(value)}]"
        case _:  # text, dates and timestamps: DuckDB casts the text to the column's type
            escaped = str(value).replace("'", "''")
            return f"'{escaped}'"


def _stores(rng: random.Random) -> list[Row]:
    places: list[tuple[str | None, str, str]] = [
        ("North", "DE", "city"),
        ("North", "DK", "mall"),
        ("South", "DE", "outlet"),
        ("South", "AT", "city"),
        ("East", "DE", "mall"),
        ("West", "FR", "outlet"),
        (None, "DE", "web"),
    ]
    return [
        (
            store_id,
            f"{region or 'Head office'} {store_id}",
            region,
            country,
            kind,
            dt.date(2010 + store_id, 3, 1),
            dt.date(2025, 6, 30) if store_id == 6 else None,
            600 if region == "South" else rng.randrange(300, 1500, 100),
        )
        for store_id, (region, country, kind) in enumerate(places, start=1)
    ]


def _products(rng: random.Random) -> list[Row]:
    """Ten products, some in two versions, one whose current version is doubled, two without id."""
    rows: list[Row] = []
    for product_id in [*range(1, 11), 3, 7, 7, None, None]:
        number = product_id or 99
        is_old = any(row[0] == product_id for row in rows) and rng.random() < 0.7
        rows.append(
            (
                product_id,
                f"SKU-{number:03}",
                f"Thing {number}",
                ("toys", "games", "garden")[number % 3],
                ("Acme", "Globex", None)[number % 2 if number < 10 else 2],
                decimal.Decimal(rng.randrange(100, 5000)) / 100,
                rng.sample(["new", "sale", "eco"], k=rng.randrange(3)),
                dt.date(2020, 1, 1),
                dt.date(2024, 1, 1) if is_old else None,
            )
        )
    return rows


def _customers(rng: random.Random) -> list[Row]:
    """Twelve customers, one of them twice (merged accounts), one without an id."""
    return [
        (
            customer_id,
            f"c{customer_id}@example.com",
            ("new", "regular", "vip", None)[(customer_id or 3) % 4],
            rng.choice([None, dt.date(2022, 2, 2)]),
            rng.choice([None, 1, 2, 3]),
            rng.choice([None, True, False]),
        )
        for customer_id in [*range(1, 13), 6, None]
    ]


def _promotions() -> list[Row]:
    return [
        (1, "Black week", "flyer", dt.date(2024, 11, 25), dt.date(2024, 12, 1), None),
        (2, "Advent", "flyer", dt.date(2024, 11, 29), dt.date(2024, 12, 24), decimal.Decimal(".1")),
        (3, "Spring", "coupon", dt.date(2025, 3, 1), dt.date(2025, 3, 31), decimal.Decimal(".2")),
        (4, "Cancelled", "flyer", dt.date(2025, 1, 10), dt.date(2025, 1, 5), None),
    ]


def _holidays() -> list[Row]:
    """The same day in several countries, one doubled within a country, two without a day."""
    days: list[Row] = [
        (dt.date(year, month, day), country, title)
        for year in (2024, 2025)
        for month, day, title in [
            (10, 3, "Unity"),
            (11, 1, "All Saints"),
            (12, 25, "Christmas"),
            (12, 26, "Boxing Day"),
            (1, 1, "New Year"),
        ]
        for country in ("DE", "AT")
    ]
    return [
        *days,
        (dt.date(2024, 12, 25), "DE", "Christmas (again)"),
        (None, "DE", "Founders"),
        (None, "FR", "Patron"),
    ]


def _load_log(today: dt.date) -> list[Row]:
    finished = dt.datetime.combine(today, dt.time(4))
    return [
        ("sales", today - dt.timedelta(days=10), finished),
        ("sales", today - dt.timedelta(days=20), finished - dt.timedelta(days=10)),
        ("daily_store_sales", today - dt.timedelta(days=14), finished),
        ("returns", None, None),
    ]


def _day(rng: random.Random, today: dt.date) -> dt.date | None:
    """A partition: crowded before Christmas and in the last weeks, thin elsewhere, odd at times."""
    dice = rng.random()
    if dice < 0.04:
        return None
    if dice < 0.07:
        return BEFORE_THE_CALENDAR
    if dice < 0.20:
        holidays = [row[0] for row in _holidays() if isinstance(row[0], dt.date)]
        return rng.choice(holidays)
    if dice < 0.45:
        return dt.date(2024, 11, 20) + dt.timedelta(days=rng.randrange(45))
    if dice < 0.55:
        return dt.date(2025, 11, 20) + dt.timedelta(days=rng.randrange(42))
    if dice < 0.60:
        return dt.date(2024, 11, 29)
    if dice < 0.75:
        return today - dt.timedelta(days=rng.randrange(28))
    return FIRST_DAY + dt.timedelta(days=rng.randrange((LAST_DAY - FIRST_DAY).days + 1))


def _some(rng: random.Random, value: T) -> T | None:
    return None if rng.random() < 0.05 else value


def _sale(rng: random.Random, today: dt.date) -> Row:
    day = _day(rng, today)
    if day == dt.date(2024, 12, 26):
        day = dt.date(2024, 12, 25)  # so that a holiday's receipts have more than one line
    # Few receipts a day, so that their numbers meet and baskets come about.
    sale_id = (day.toordinal() if day else 0) * 10 + rng.randrange(3)
    channel = rng.choice(["store", "store", "web", "phone", None])
    noon = dt.datetime.combine(day, dt.time(rng.randrange(8, 20))) if day else None
    is_parcel = day is not None and channel in ("web", "phone")
    return (
        sale_id,
        rng.randrange(1, 4),
        _some(rng, rng.randrange(1, 9)),  # store 8 is not in the dimension
        _some(rng, rng.randrange(1, 12)),
        rng.choice([None, *range(1, 14)]),
        rng.choice([None, None, 1, 2, 3]),
        channel,
        rng.randrange(1, 5),
        _some(rng, decimal.Decimal(rng.randrange(-500, 20000)) / 100),
        noon,
        day + dt.timedelta(days=rng.randrange(1, 25)) if day and is_parcel else None,
        day,
    )


def _return(rng: random.Random, number: int, sale: Row) -> Row:
    """The refund of a sale's line, at the same store, within two months of it."""
    sale_id, line_no, store_id, product_id, customer_id, _promo, _channel, quantity, amount = sale[
        :9
    ]
    day = sale[-1]
    came_back = day + dt.timedelta(days=rng.randrange(60)) if isinstance(day, dt.date) else None
    numbers = (sale_id, line_no, store_id, product_id, customer_id, quantity, amount)
    reason = rng.choice(["broken", "size", "recall", None])
    return (number, *numbers, reason, _some(rng, came_back))


def _stock(rng: random.Random, today: dt.date, stores: Sequence[Row]) -> Row:
    """A stock count. Every third is at a month's end, as the reports want; some lack the region."""
    day = _day(rng, today)
    dice = rng.random()
    if day is not None and dice < 0.3:
        day = (day.replace(day=1) + dt.timedelta(days=32)).replace(day=1) - dt.timedelta(days=1)
    elif day is not None and dice < 0.5:
        day += dt.timedelta(days=(5 - day.weekday()) % 7)  # Saturday
    store = rng.choice(stores)
    return (
        store[0],
        rng.randrange(1, 16),
        rng.choice([None, 0, 0, 5, 20]),
        rng.choice([0, 10]),
        5,
        day.year * 10000 + day.month * 100 + day.day if day else None,
        _some(rng, store[2]),
    )


def _clicks(rng: random.Random, today: dt.date, sales: Sequence[Row]) -> list[Row]:
    """One event for each sale; a third of them views of just what was sold that day."""
    rows: list[Row] = []
    for number, sale in enumerate(sales):
        customer_id, product_id, day = sale[4], sale[3], sale[-1]
        event = "view"
        if rng.random() < 0.67:
            day, event = _day(rng, today), rng.choice(["view", "cart", "checkout", "pay"])
        text = day.isoformat() if isinstance(day, dt.date) else None
        if isinstance(day, dt.date) and rng.random() < 0.1:  # equal as a date, not as a string
            text = f"{day.year}-{day.month}-{day.day}"
        rows.append(
            (
                f"e{number}",
                f"s{rng.randrange(1 + len(sales) // 3)}",
                customer_id,
                event,
                product_id,
                rng.choices(range(1, 12), k=rng.randrange(4)) if event == "checkout" else None,
                f"https://shop.example/p/{product_id}",
                f"{text} 12:00:00" if text else None,
                text,
            )
        )
    return rows
