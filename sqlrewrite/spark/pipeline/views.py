"""What ``spark.table`` gives of a view, with another text in the place of the view's own.

Spark itself reads the text as it reads the view: in the namespace and under the settings that the
view was made with, its columns cast to the view's, and found under its qualified name. SQL has no
way to say all that, so this speaks with the classes of Spark 4's catalog, in a classic session.
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
    """The name and the text of the view that a frame is of, None for any other frame: a permanent
    view by its qualified name; a temporary one, if it was made by SQL, under settings that change
    nothing, and of what is permanent."""
    plan: Any = frame._jdf.queryExecution().analyzed()
    if plan.nodeName() != "SubqueryAlias" or plan.child().nodeName() != "View":
        return None
    view, identifier = plan.child(), plan.identifier()
    described, parts = view.desc(), identifier.qualifier()
    name = *(parts.apply(n) for n in range(parts.length())), identifier.name()
    if len(name) != (1 if view.isTempView() else 3):
        return None
    if described.viewText().isEmpty() or (view.isTempView() and not _lasts(frame, described)):
        return None
    return tuple(it.lower() for it in name), described.viewText().get()


def _lasts(frame: DataFrame, described: Any) -> bool:
    """Whether the text of a temporary view says without the session what it means."""
    converters = cast("Any", frame.sparkSession)._jvm.scala.jdk.javaapi.CollectionConverters
    made_under = converters.asJava(described.viewSQLConfigs())
    return (
        described.viewReferredTempViewNames().isEmpty()
        and described.viewReferredTempFunctionNames().isEmpty()
        and described.viewReferredTempVariableNames().isEmpty()
        and not obstacle({str(key).lower(): str(made_under[key]) for key in made_under})
    )


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
