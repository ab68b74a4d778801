"""CTEs with several references, as TPC-DS q2 and q59 have them.

In: a ``Writer``. Out: a ``Select`` that reads an aggregate over fact and calendar two or three
times, each under a filter of its own on the group key, or through another join to the calendar; at
times one reference has none, or there is another CTE in between.
"""

from __future__ import annotations

from .facts import fact
from .relations import JOINABLE, Select, Source, Writer
from .schema import Column


def shared_cte(w: Writer) -> Select:
    """Two or three references to one CTE, in a union or in a join."""
    w.shapes.add("shared")
    body = _weekly(w) if w.chance(0.75) else _plain(w)
    if not body.columns:
        return body
    name = w.cte(body, True)
    if w.chance(0.25):
        body, name = _again(w, name, body)
    count = w.rng.choices((2, 3), (75, 25))[0]
    return _union(w, name, body, count) if w.chance(0.55) else _join(w, name, body, count)


def _weekly(w: Writer) -> Select:
    """An aggregate over fact ⋈ calendar, grouped by an attribute of the calendar."""
    source = fact(w, 1)
    family = w.join_family(source.keys)
    calendar = w.dimension(family, 1)
    key = w.rng.choice([k for k in source.keys if k.family == family] or list(source.keys))
    other = w.rng.choice([c for c in calendar.columns if c.family == family])
    pool = [c for c in calendar.columns if c.family in JOINABLE]
    picked = w.rng.sample(pool, min(len(pool), w.rng.choice((1, 1, 2))))
    if w.chance(0.15):  # the partition column itself among the keys
        picked = [other, *(c for c in picked if c != other)]
    refs = [calendar.ref(c) for c in picked]
    tie = f"{source.ref(key)} = {calendar.ref(other)}"
    rest = [w.condition(calendar)] if w.chance(0.2) else []
    if w.chance(0.5):
        where = f" WHERE {' AND '.join(rest)}" if rest else ""
        joined = f"{source.text} JOIN {calendar.text} ON {tie}{where}"
    else:
        joined = f"{source.text}, {calendar.text} WHERE {' AND '.join([tie, *rest])}"
    names = [Column(f"w{i}", c.type) for i, c in enumerate(picked)]
    items = [f"{r} AS {n.name}" for r, n in zip(refs, names, strict=True)]
    if w.chance(0.15):
        text = f"SELECT {', '.join(items)}, {source.ref(key)} AS n FROM {joined}"
        return Select(text, (*names, Column("n", key.type)), tuple(names))
    text = f"SELECT {', '.join(items)}, COUNT(*) AS n FROM {joined} GROUP BY {', '.join(refs)}"
    return Select(text, (*names, Column("n", "int")), tuple(names))


def _plain(w: Writer) -> Select:
    """A fact with its partition column, or two of them, one below the other."""
    source = fact(w, 1)
    keys = [k for k in source.keys if k.family in JOINABLE] or list(source.keys)
    others = [c for c in source.columns if c not in keys][:2]
    picked = [*keys, *others]
    names = [Column(f"w{i}", c.type) for i, c in enumerate(picked)]
    items = ", ".join(f"{source.ref(c)} AS {n.name}" for c, n in zip(picked, names, strict=True))
    text = f"SELECT {items} FROM {source.text}"
    return Select(text, tuple(names), tuple(names[: len(keys)]))


def _again(w: Writer, name: str, body: Select) -> tuple[Select, str]:
    """A second CTE over the first, filtered or not, or a union of it with itself."""
    arms = []
    for _ in range(2 if w.chance(0.4) else 1):
        source = w.reference(name, body, True)
        where = f" WHERE {w.condition(source)}" if w.chance(0.5) else ""
        listed = ", ".join(source.ref(c) for c in body.columns)
        arms.append(f"SELECT {listed} FROM {source.text}{where}")
    select = Select(" UNION ALL ".join(arms), body.columns, body.keys)
    return select, w.cte(select, True)


def _reference(w: Writer, name: str, body: Select) -> tuple[str, list[str], Source]:
    """One use: the text for FROM, its conditions, and the relation."""
    source = w.reference(name, body, True)
    key = w.rng.choice(body.keys)
    match w.pick(direct=45, joined=40, member=8, none=7):
        case "direct":
            return source.text, [w.predicate(source.ref(key), key)], source
        case "joined" if key.family in JOINABLE:
            other = w.dimension(key.family, 1)
            column = w.rng.choice([c for c in other.columns if c.family == key.family])
            tie = f"{source.ref(key)} = {other.ref(column)}"
            return f"{source.text} JOIN {other.text} ON {tie}", [w.condition(other)], source
        case "member" if key.family in JOINABLE:
            other = w.dimension(key.family, 0)
            column = w.rng.choice([c for c in other.columns if c.family == key.family])
            inner = f"SELECT {other.ref(column)} FROM {other.text} WHERE {w.condition(other)}"
            return source.text, [f"{source.ref(key)} IN ({inner})"], source
        case _:
            return source.text, [], source


def _union(w: Writer, name: str, body: Select, count: int) -> Select:
    arms = []
    for _ in range(count):
        text, where, source = _reference(w, name, body)
        listed = ", ".join(source.ref(c) for c in body.columns)
        given = f" WHERE {' AND '.join(where)}" if where else ""
        arms.append(f"SELECT {listed} FROM {text}{given}")
    word = w.rng.choice(("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT"))
    return Select(f" {word} ".join(arms), body.columns)


def _join(w: Writer, name: str, body: Select, count: int) -> Select:
    """The references side by side, each bounded in WHERE or in a derived table of its own."""
    text, where, first = _reference(w, name, body)
    items = [f"{first.ref(c)} AS a{i}" for i, c in enumerate(body.columns)]
    for number in range(1, count):
        below, given, source = _reference(w, name, body)
        if w.chance(0.5):
            listed = ", ".join(source.ref(c) for c in body.columns)
            clause = f" WHERE {' AND '.join(given)}" if given else ""
            alias = w.fresh("q")
            below, given = f"(SELECT {listed} FROM {below}{clause}) AS {alias}", []
            source = Source(below, alias, body.columns, body.keys, True)
        one, other = w.rng.choice(body.columns), w.rng.choice(body.columns)
        if one.family != other.family:
            other = one
        shift = " + 1" if one.family == "int" and w.chance(0.4) else ""
        tie = f"{first.ref(one)} = {source.ref(other)}{shift}"
        word = w.rng.choices(("JOIN", "LEFT JOIN", ","), (60, 15, 25))[0]
        simple = " JOIN " not in below or below.startswith("(")
        if word == "," or not simple:
            text, where = f"{below}, {text}", [*where, tie]
        else:
            text += f" {word} {below} ON {tie}"
        where += given
        items.append(f"{source.ref(body.columns[-1])} AS b{number}")
    clause = f" WHERE {' AND '.join(where)}" if where else ""
    return Select(f"SELECT {', '.join(items)} FROM {text}{clause}", ())
