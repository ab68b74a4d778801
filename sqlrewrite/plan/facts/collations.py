"""The names of Spark's collations (``CollationFactory``)."""

from __future__ import annotations

from functools import lru_cache

# `SELECT name FROM collations()` of 4.3, without what a locale may carry behind it.
_LOCALES = {
    name.lower(): name
    for name in """
    UNICODE
    af am ar ar_SAU as az be bg blo bn bo br bs bs_Cyrl ca ceb chr cs cy da de de_AUT dsb dz ee el
    en en_USA eo es et fa fa_AFG ff ff_Adlm fi fil fo fr fr_CAN fy ga gl gu ha haw he he_ISR hi hr
    hsb hu hy id id_IDN ig is it ja ka kk kk_Arab kl km kn ko kok ku ky lb lij lkt ln lo lt lv mk ml
    mn mr ms mt my nb nb_NOR ne nl nn no nso om or pa pa_Guru pa_Guru_IND pl ps pt ro ru sa se si sk
    sl smn sq sr sr_Cyrl sr_Cyrl_BIH sr_Cyrl_MNE sr_Cyrl_SRB sr_Latn sr_Latn_BIH sr_Latn_SRB st sv
    sw ta te th tk tn to tr ug uk ur uz vi wae wo xh yi yo zh zh_Hans zh_Hans_CHN zh_Hans_SGP
    zh_Hant zh_Hant_HKG zh_Hant_MAC zh_Hant_TWN zu
    """.split()
}
_BYTEWISE = ("UTF8_BINARY", "UTF8_LCASE")
_MODIFIERS = (("ci", "cs"), ("ai", "as"), ("rtrim",))


@lru_cache(maxsize=256)
def collation(text: str) -> str | None:
    """A collation's name as Spark spells it: ``unicode_CI`` is ``UNICODE_CI``; None: it is none."""
    wanted = text.lower()
    for name in _BYTEWISE:
        if wanted in (name.lower(), f"{name.lower()}_rtrim"):
            return name + text[len(name) :].upper()
    parts, given = wanted.split("_"), []
    while parts and any(parts[-1] in kinds for kinds in _MODIFIERS) and len(parts) > 1:
        given.append(parts.pop())
    locale = _LOCALES.get("_".join(parts))
    if locale is None:
        return None
    for kinds in _MODIFIERS:
        if sum(given.count(kind) for kind in kinds) > 1:
            return None
    kept = [kinds[0].upper() for kinds in _MODIFIERS if kinds[0] in given]
    return "_".join([locale, *kept])
