"""Replaces the text of a view that ``spark.table`` reads.

Spark reads the new text as it reads the view: in the namespace and under the settings that the view
was created with, its columns cast to the view's types and found under its qualified name. SQL
cannot say that, so this uses the classes of Spark 4's catalog, in a classic session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from sqlrewrite.spark.pipeline.settings import obstacle
from sqlrewrite.warehouse import Name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def replaceable(spark: SparkSession) -> bool:
    """Whether a session's views can be given another text."""
    return hasattr(spark, "_jsparkSession") and int(spark.version.partition(".")[0]) >= 4


def text_of(frame: DataFrame) -> tuple[Name, str] | None:
    """The name and the text of the view that a frame reads: a permanent view by its qualified name,
    or a temporary one whose text means the same outside of its session. None for any other frame.
    """
    plan: Any = frame._jdf.queryExecution().analyzed()
    if plan.nodeName() != "SubqueryAlias" or plan.child().nodeName() != "View":
        return None
    view, identifier = plan.child(), plan.identifier()
    described, parts = view.desc(), identifier.qualifier()
    name = *(parts.apply(n) for n in range(parts.length())), identifier.name()
    if len(name) != (1 if view.isTempView() else 3):
        return None
    if described.viewText().isEmpty() or (view.isTempView() and not _independent(frame, described)):
        return None
    return tuple(it.lower() for it in name), described.viewText().get()


def _independent(frame: DataFrame, described: Any) -> bool:
    """Whether a temporary view's text refers to nothing temporary, and was created under settings
    that do not change its meaning."""
    converters = cast("Any", frame.sparkSession)._jvm.scala.jdk.javaapi.CollectionConverters
    made_under = converters.asJava(described.viewSQLConfigs())
    return (
        described.viewReferredTempViewNames().isEmpty()
        and described.viewReferredTempFunctionNames().isEmpty()
        and described.viewReferredTempVariableNames().isEmpty()
        and not obstacle({str(key).lower(): str(made_under[key]) for key in made_under})
    )


def with_text(spark: SparkSession, frame: DataFrame, text: str) -> DataFrame:
    """The frame of a view with this text. The view is registered for a moment under a unique name,
    because Spark applies a view's own settings only when it looks the view up."""
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
