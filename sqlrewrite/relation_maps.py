"""Relations by name, never changed in place: each statement of a text has its own, which shares all
but what it changes with those before it.

``PersistentMap`` is a hash trie of two levels (Bagwell, "Ideal Hash Trees", 2001): a change copies
two tuples of 32 and one small dict, however many items there are. ``immutables`` and ``rpds-py``
cannot say what changed from one map to the next, which each statement of a text asks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

Name = tuple[str, ...]
"""A qualified name, catalog first, lower case: ``("spark_catalog", "default", "sales")``."""

K = TypeVar("K")
V = TypeVar("V")

_BITS, _MASK = 5, 31
_NO_ITEMS: dict[Any, Any] = {}
_NO_NODE = (_NO_ITEMS,) * (_MASK + 1)
_NO_NODES: tuple[tuple[dict[Any, Any], ...], ...] = (_NO_NODE,) * (_MASK + 1)


class PersistentMap(Mapping[K, V], Generic[K, V]):
    """A mapping that never changes, in the order of its keys."""

    __slots__ = ("_length", "_nodes")

    def __init__(self, items: Mapping[K, V] | None = None) -> None:
        self._nodes, self._length = _NO_NODES, len(items or ())
        nodes: dict[int, dict[int, dict[K, V]]] = {}
        for key, value in (items or {}).items():
            place = hash(key)
            node = nodes.setdefault(place & _MASK, {})
            node.setdefault(place >> _BITS & _MASK, {})[key] = value
        if nodes:
            self._nodes = tuple(
                tuple(nodes[first].get(second, _NO_ITEMS) for second in range(_MASK + 1))
                if first in nodes
                else _NO_NODE
                for first in range(_MASK + 1)
            )

    def __getitem__(self, key: K) -> V:
        place = hash(key)
        value: V = self._nodes[place & _MASK][place >> _BITS & _MASK][key]
        return value

    def __contains__(self, key: object) -> bool:
        place = hash(key)
        return key in self._nodes[place & _MASK][place >> _BITS & _MASK]

    def get(self, key: K, default: Any = None) -> Any:
        """The value of a key, else the default."""
        place = hash(key)
        return self._nodes[place & _MASK][place >> _BITS & _MASK].get(key, default)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[K]:
        nodes = (node for node in self._nodes if node is not _NO_NODE)
        keys: list[Any] = [key for node in nodes for items in node if items for key in items]
        return iter(sorted(keys))

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[dict[K, V]]]:
        """Pickled as its items: a string has another hash in another process."""
        return type(self), (dict(self),)

    def with_item(self, key: K, value: V) -> PersistentMap[K, V]:
        """The mapping with an item added or replaced."""
        return self._changed(key, {key: value}, self._length + (key not in self))

    def without(self, key: K) -> PersistentMap[K, V]:
        """The mapping without a key."""
        return self._changed(key, {}, self._length - 1) if key in self else self

    def _changed(self, key: K, item: dict[K, V], length: int) -> PersistentMap[K, V]:
        place = hash(key)
        first, second = place & _MASK, place >> _BITS & _MASK
        node = self._nodes[first]
        others = {other: value for other, value in node[second].items() if other != key}
        changed = PersistentMap[K, V]()
        node = (*node[:second], others | item, *node[second + 1 :])
        changed._nodes = (*self._nodes[:first], node, *self._nodes[first + 1 :])
        changed._length = length
        return changed

    def changes(self, after: PersistentMap[K, V]) -> Iterator[tuple[K, V | None, V | None]]:
        """The keys whose values differ in a mapping that was made from this one, with both
        values."""
        for node, node_after in zip(self._nodes, after._nodes, strict=True):
            if node is node_after:
                continue
            for old, new in zip(node, node_after, strict=True):
                if old is not new:
                    yield from _differences(old, new)


def _differences(old: Mapping[K, V], new: Mapping[K, V]) -> Iterator[tuple[K, V | None, V | None]]:
    for key in (*old, *(key for key in new if key not in old)):
        if old.get(key) is not new.get(key):
            yield key, old.get(key), new.get(key)


class NamedRelation(Protocol):
    """A table or view."""

    @property
    def name(self) -> Name:
        """Its qualified name; of one part, if it is a temporary view."""

    @property
    def prunable(self) -> bool:
        """Whether a query over it may have partitions to prune."""

    @property
    def query(self) -> str:
        """The query of a view; empty for a table."""


R = TypeVar("R", bound=NamedRelation)
_WORD = re.compile(r"\w+")


class Relations(Mapping[Name, R], Generic[R]):
    """Relations by qualified name, in the order of the names; never changed in place."""

    __slots__ = (
        "_below",
        "_by_last",
        "_length",
        "_names",
        "_parts",
        "_prunable",
        "_readers",
        "temporary",
        "variable",
    )

    temporary: PersistentMap[Name, R]
    """The temporary views."""
    variable: PersistentMap[Name, bool]
    """The names in which a variable stands: ``("spark_catalog", "${db}", "t")``."""

    def __init__(self, relations: Mapping[Name, R] | None = None) -> None:
        relations = relations or {}
        permanent = [name for name in relations if len(name) > 1]
        by_last: dict[str, dict[Name, R]] = {}
        for name in permanent:
            by_last.setdefault(name[-1], {})[name] = relations[name]
        self._by_last: PersistentMap[str, Mapping[Name, R]] = PersistentMap(by_last)
        self._parts = PersistentMap(Counter(part for name in permanent for part in _parts(name)))
        self._prunable = sum(relations[name].prunable for name in permanent)
        self._length = len(permanent)
        self.temporary = PersistentMap({n: relations[n] for n in relations if len(n) == 1})
        self.variable = PersistentMap({name: True for name in relations if _is_variable(name)})
        self._readers: PersistentMap[str, PersistentMap[Name, None]] | None = None
        self._below: PersistentMap[Name, PersistentMap[Name, None]] | None = None
        self._names: tuple[Name, ...] | None = None

    def __getitem__(self, name: Name) -> R:
        return self._by_last[name[-1]][name] if len(name) > 1 else self.temporary[name]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, tuple) or len(name) < 2:
            return name in self.temporary
        return name in self._by_last.get(name[-1], _NO_ITEMS)

    def __len__(self) -> int:
        return self._length + len(self.temporary)

    def __iter__(self) -> Iterator[Name]:
        if self._names is None:
            permanent = (name for last in self._by_last for name in self._by_last[last])
            self._names = tuple(sorted([*permanent, *self.temporary]))
        return iter(self._names)

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[dict[Name, R]]]:
        """Pickled as its items, as a ``PersistentMap`` is."""
        return type(self), (dict(self),)

    def named(self, last: str) -> Collection[Name]:
        """The qualified names with this last part."""
        names: Collection[Name] = self._by_last.get(last, _NO_ITEMS).keys()
        return names

    def has_schema(self, schema: str) -> bool:
        """Whether a relation is in a schema of this name, whatever the catalog."""
        return (_SCHEMA, schema) in self._parts

    def has_catalog(self, catalog: str) -> bool:
        """Whether a relation is in a catalog of this name."""
        return (_CATALOG, catalog) in self._parts

    @property
    def any_prunable(self) -> bool:
        """Whether a relation may have partitions to prune."""
        return bool(self._prunable or self.temporary)

    def prunable(self, words: Iterable[str]) -> bool:
        """Whether a relation whose last name is among the words may have partitions to prune."""
        return self.any_prunable and any(
            relation.prunable
            for word in words
            for relation in (*self._by_last.get(word, {}).values(), self.temporary.get((word,)))
            if relation is not None
        )

    def changed(self, name: Name, relation: R | None) -> Relations[R]:
        """The relations with ``relation`` under that name; with None, without the name."""
        old = self.get(name)
        if relation is old:
            return self
        after = self._copy()
        if len(name) == 1:
            after.temporary = _with(self.temporary, name, relation)
        else:
            others = _with_few(self._by_last.get(name[-1], _NO_ITEMS), name, relation)
            after._by_last = _with(self._by_last, name[-1], others or None)
            more = (relation is not None) - (old is not None)
            after._length += more
            for part in _parts(name) if more else ():
                after._parts = _with(after._parts, part, after._parts.get(part, 0) + more or None)
            after._prunable += (relation is not None and relation.prunable) - (
                old is not None and old.prunable
            )
        if _is_variable(name):
            after.variable = _with(self.variable, name, None if relation is None else True)
        # Indexed here, not in ``after``: else each change of these relations would index them anew.
        after._readers, after._below = self._by_words(), self._by_namespaces()
        if relation is not None:
            after._readers = _with_words(after._readers, relation)
            after._below = _with_namespaces(after._below, name)
        return after

    def with_temporaries(self, names: Iterable[Name]) -> Relations[R]:
        """The relations with no other temporary views than those of these ``names``."""
        after = self._copy()
        after.temporary = PersistentMap(
            {n: self.temporary[n] for n in names if n in self.temporary}
        )
        return after

    def _copy(self) -> Relations[R]:
        after: Relations[R] = Relations.__new__(type(self))
        for slot in self.__slots__:
            setattr(after, slot, getattr(self, slot))
        after._names = None
        return after

    def changes(self, after: Relations[R]) -> Iterator[tuple[Name, R | None, R | None]]:
        """The names whose relations differ in what was made from these, with both relations."""
        yield from self.temporary.changes(after.temporary)
        for _, old, new in self._by_last.changes(after._by_last):
            if isinstance(old, PersistentMap) and isinstance(new, PersistentMap):
                yield from old.changes(new)
            else:
                yield from _differences(old or {}, new or {})

    def readers(self, last: str) -> list[R]:
        """The views whose query has that word; all views for a name that is not one word."""
        if _WORD.fullmatch(last) is None:
            return [relation for relation in self.values() if relation.query]
        return [self[name] for name in self._by_words().get(last, ()) if name in self]

    def below(self, namespace: Name) -> list[Name]:
        """The names in a schema, or in one below it."""
        return [name for name in self._by_namespaces().get(namespace, ()) if name in self]

    def _by_words(self) -> PersistentMap[str, PersistentMap[Name, None]]:
        """The names of views by the words of their queries."""
        if self._readers is None:
            relations = self.values()
            self._readers = _indexed((word, one.name) for one in relations for word in _words(one))
        return self._readers

    def _by_namespaces(self) -> PersistentMap[Name, PersistentMap[Name, None]]:
        """The names by the schemas that they are in."""
        if self._below is None:
            self._below = _indexed((above, name) for name in self for above in _namespaces(name))
        return self._below


_CATALOG, _SCHEMA = 0, -2


def _parts(name: Name) -> Iterator[tuple[int, str]]:
    """The catalog and schema in a qualified name."""
    yield _SCHEMA, name[_SCHEMA]
    if len(name) > 2:
        yield _CATALOG, name[_CATALOG]


def _is_variable(name: Name) -> bool:
    return any("$" in part for part in name)


def _with(items: PersistentMap[K, V], key: K, value: V | None) -> PersistentMap[K, V]:
    """A mapping with another value; None: without the key."""
    return items.without(key) if value is None else items.with_item(key, value)


_FEW = 50


def _with_few(items: Mapping[K, V], key: K, value: V | None) -> Mapping[K, V]:
    """A mapping, most often of one item, with another value; None: without the key."""
    if isinstance(items, PersistentMap) or len(items) > _FEW:
        many = items if isinstance(items, PersistentMap) else PersistentMap(items)
        return _with(many, key, value)
    others = {other: own for other, own in items.items() if other != key}
    return others if value is None else {**others, key: value}


def _indexed(pairs: Iterable[tuple[K, Name]]) -> PersistentMap[K, PersistentMap[Name, None]]:
    """The names by key."""
    names: dict[K, dict[Name, None]] = {}
    for key, name in pairs:
        names.setdefault(key, {})[name] = None
    return PersistentMap({key: PersistentMap(names[key]) for key in names})


def _with_words(
    readers: PersistentMap[str, PersistentMap[Name, None]], relation: NamedRelation
) -> PersistentMap[str, PersistentMap[Name, None]]:
    """The names of views by the words of their queries, with those of one more."""
    for word in _words(relation):
        names: PersistentMap[Name, None] = readers.get(word) or PersistentMap()
        readers = readers.with_item(word, names.with_item(relation.name, None))
    return readers


def _words(relation: NamedRelation) -> set[str]:
    """The words of a view's query; none for a table."""
    return set(_WORD.findall(relation.query.lower())) if relation.query else set()


def _with_namespaces(
    below: PersistentMap[Name, PersistentMap[Name, None]], name: Name
) -> PersistentMap[Name, PersistentMap[Name, None]]:
    """The names by the schemas that they are in, with one more."""
    for above in _namespaces(name):
        names: PersistentMap[Name, None] = below.get(above) or PersistentMap()
        below = below.with_item(above, names.with_item(name, None))
    return below


def _namespaces(name: Name) -> Iterator[Name]:
    """The schemas that a name is in, from the outermost inward; the catalog alone is none."""
    return (name[:end] for end in range(2, len(name)))
