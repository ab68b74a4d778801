"""The comment that suppresses a finding, which an editor offers to write.

In: a text or a host file, the line, the codes. Out: the edit that adds the comment at the end of
the line, or the codes to the comment that stands there. Whether it does that and no more is for the
caller to check, by linting the result: the line may end in a string, a comment or a template.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.suppression import UNUSED
from sqlrewrite.sql.statements.directives import SIGN
from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.hosts.region import Change, Host, Region
from sqlrewrite.text.source import LINE_END

_OURS = re.compile(rf"--[ \t]*{SIGN}[ \t]*ignore[ \t]*\[[^\]]*(?=\])")


def in_region(host: Host, region: Region, at: int, codes: Sequence[str]) -> Change:
    """The comment for the line of SQL that an offset of a region's text is in. Raises
    Unwritable."""
    start = max(region.text.rfind("\n", 0, at), region.text.rfind("\r", 0, at)) + 1
    edit = comment(region.text, start, codes)
    return host.in_file(region, (Span(edit.offset, edit.offset), edit.text))


def comment(text: str, start: int, codes: Sequence[str]) -> Edit:
    """The comment for the line that begins there, or more codes for the comment that it has."""
    end = LINE_END.search(text, start)
    at = len(text) if end is None else end.start()
    own = _OURS.search(text, start, at)
    if own is not None:
        return Edit(own.end(), "".join(f", {code}" for code in codes))
    return Edit(at, f"  -- {SIGN} ignore[{', '.join(codes)}]")


def counted(found: Iterable[Finding]) -> Counter[tuple[str, ...]]:
    """Findings by what stays the same when a comment is added to their statement, counted; those
    about comments by their code alone."""
    return Counter(
        (it.code,) if it.code == UNUSED else (it.code, it.subject, it.statement) for it in found
    )
