"""What ``spark.table`` gives of a permanent view, with another text in the place of the view's own.

Spark itself reads the text as it reads the view: in the namespace and under the settings that the
view was made with, its columns cast to the view's, and found under its qualified name. SQL has no
way to say all that, so this speaks with the classes of Spark 4's catalog, in a classic session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sqlrewrite.warehouse import Name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def replaceable(spark: SparkSession) -> bool:
    """Whether a session's views can be given another text."""
    return hasattr(spark, "_jsparkSession") and int(spark.version.partition(".")[0]) >= 4


def permanent(frame: DataFrame) -> tuple[Name, str] | None:
    """The qualified name and the text of the view that a frame is of, None for any other frame."""
    plan: Any = frame._jdf.queryExecution().analyzed()
    if plan.nodeName() != "SubqueryAlias" or plan.child().nodeName() != "View":
        return None
    view, identifier = plan.child(), plan.identifier()
    qualifier = [identifier.qualifier().apply(n) for n in range(identifier.qualifier().length())]
    if view.isTempView() or len(qualifier) != 2:
        return None
    return tuple(it.lower() for it in (*qualifier, identifier.name())), view.desc().viewText().get()


def with_text(spark: SparkSession, frame: DataFrame, text: str) -> DataFrame:
    """The frame of a view with this text. It stands for a moment under a name that nobody has:
    Spark resolves a view under its own settings only where it looks one up."""
    from pyspark.sql import DataFrame

    jvm: Any = spark._jvm
    scala, catalyst = jvm.scala, jvm.org.apache.spark.sql.catalyst
    java: Any = spark._jsparkSession
    plan: Any = frame._jdf.queryExecution().analyzed()
    described = plan.child().desc()
    values = {
        described.productElementName(n): described.productElement(n)
        for n in range(described.productArity())
    }
    values["viewText"] = scala.Option.apply(text)
    made = catalyst.catalog.CatalogTable(*values.values())
    name = f"dpp_rewrite_{uuid4().hex}"
    catalog = java.sessionState().catalog()
    catalog.createTempView(
        name, catalyst.catalog.TemporaryViewRelation(made, scala.Option.apply(None)), False
    )
    try:
        read = java.table(name).queryExecution().analyzed().child()
    finally:
        catalog.dropTempView(name)
    alias = catalyst.plans.logical.SubqueryAlias(plan.identifier(), read)
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(java, alias), spark)
