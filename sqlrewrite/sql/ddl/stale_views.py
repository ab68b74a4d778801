"""Views whose relations were changed after they were made: nothing is known of them any more.

Spark keeps the names and types that a view's columns had when it was made, runs its query anew each
time and casts the result to them; a column that its ``*`` has gained since is not the view's.
"""

from __future__ import annotations

import re
from itertools import takewhile

from sqlrewrite.warehouse import Name, Table, TableOrView, View, Warehouse


def without_stale(before: Warehouse, after: Warehouse) -> Warehouse:
    """The catalog without the views that read, however deep, what a statement has changed."""
    if after is before or len(after.relations) > len(before.relations):
        return after  # nothing is new, or nothing else is
    changed = {
        name: (relation, after.relations.get(name))
        for name, relation in before.relations.items()
        if after.relations.get(name) is not relation
    }
    while changed:
        stale = [
            view
            for view in after.relations.values()
            if isinstance(view, View)
            and view is before.relations.get(view.name)
            and any(_reads(view, name, *change) for name, change in changed.items())
        ]
        changed = {view.name: (view, None) for view in stale}
        for view in stale:
            after = after.without(view.name)
    return after


def _reads(view: View, name: Name, before: TableOrView, after: TableOrView | None) -> bool:
    """Whether a view may read a relation, in another way than when it was made."""
    if len(name) == 1 and name not in view.temporaries:
        return False
    if not re.search(rf"(?<!\w){re.escape(name[-1])}(?!\w)", view.query, re.IGNORECASE):
        return False
    return "*" in view.query or not _only_more_columns(before, after)


def _only_more_columns(before: TableOrView, after: TableOrView | None) -> bool:
    if not isinstance(before, Table) or not isinstance(after, Table):
        return False
    pairs = zip(before.columns, after.columns, strict=False)
    alike = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    return alike == len(before.columns)
