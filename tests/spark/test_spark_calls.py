"""PySpark's own methods, walked: each is known to change names or settings, or to change none."""

from __future__ import annotations

from pkgutil import resolve_name

import pytest

from sqlrewrite.text.hosts.spark_calls import NAMES, SETTINGS

pytestmark = pytest.mark.spark

HARMLESS_METHODS = {
    "pyspark.sql:SparkSession": """
        Builder active addArtifact addArtifacts addTag builder catalog clearProgressHandlers
        clearTags client conf copyFromLocalToFs createDataFrame dataSource emptyDataFrame
        getActiveSession getTags interruptAll interruptOperation interruptTag newSession profile
        range read readStream registerProgressHandler removeProgressHandler removeTag sparkContext
        sql stop streams table tvf udf udtf version""",
    "pyspark.sql:SparkSession.Builder": """
        appName create enableHiveSupport getOrCreate master remote""",
    "pyspark.sql.catalog:Catalog": """
        analyzeTable cacheTable clearCache createDatabase currentCatalog currentDatabase
        databaseExists functionExists getCreateTableString getDatabase getFunction getTable
        getTableProperties isCached listCatalogs listColumns listDatabases listFunctions
        listPartitions listTables listViews recoverPartitions refreshByPath refreshTable
        registerFunction tableExists truncateTable uncacheTable""",
    "pyspark.sql:DataFrame": """
        agg alias approxQuantile asTable cache checkpoint coalesce colRegex collect columns corr
        count cov crossJoin crosstab cube describe distinct drop dropDuplicates
        dropDuplicatesWithinWatermark drop_duplicates dropna dtypes exceptAll executionInfo exists
        explain fillna filter first foreach foreachPartition freqItems groupBy groupby groupingSets
        head hint inputFiles intersect intersectAll isEmpty isLocal isStreaming join lateralJoin
        limit localCheckpoint mapInArrow mapInPandas melt mergeInto metadataColumn na nearestByJoin
        observe offset orderBy pandas_api persist plot printSchema randomSplit rdd repartition
        repartitionById repartitionByRange replace rollup sameSemantics sample sampleBy scalar
        schema select selectExpr semanticHash show sort sortWithinPartitions sparkSession sql_ctx
        stat storageLevel subtract summary tail take to toArrow toDF toJSON toLocalIterator toPandas
        to_koalas to_pandas_on_spark transform transpose union unionAll unionByName unpersist
        unpivot where withColumn
        withColumnRenamed withColumns withColumnsRenamed withMetadata withWatermark write
        writeStream zip zipWithIndex""",
    "pyspark.sql:DataFrameWriter": """
        bucketBy clusterBy csv format insertInto jdbc json mode orc parquet partitionBy save sortBy
        text xml""",
    "pyspark.sql.readwriter:DataFrameWriterV2": """
        append clusterBy create createOrReplace overwrite overwritePartitions partitionedBy replace
        tableProperty using""",
    "pyspark.sql.streaming.readwriter:DataStreamWriter": """
        clusterBy foreach foreachBatch format outputMode partitionBy trigger""",
    "pyspark.sql.merge:MergeIntoWriter": """
        WhenMatched WhenNotMatched WhenNotMatchedBySource merge whenMatched whenNotMatched
        whenNotMatchedBySource withSchemaEvolution""",
    "pyspark.sql.conf:RuntimeConfig": "get getAll isModifiable",
    "pyspark:SparkConf": """
        contains get getAll setAppName setExecutorEnv setMaster setSparkHome toDebugString""",
    "pyspark.sql:SQLContext": """
        cacheTable clearCache createDataFrame getConf getOrCreate newSession range read readStream
        registerFunction registerJavaFunction sql streams table tableNames tables udf udtf
        uncacheTable""",
}
"""By class, the public methods of PySpark 3.5 to 4.3 after which names and settings are what they
were: what writes rows changes no name, what DataFrameWriterV2 makes is named to ``writeTo``, and
``sql`` is read."""


NOT_IN_3 = pytest.mark.since("4.0", "DataFrames have no mergeInto")


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=NOT_IN_3 if kind.startswith("pyspark.sql.merge") else ())
        for kind in HARMLESS_METHODS
    ],
)
def test_each_method_of_pyspark_is_known(kind: str) -> None:
    public = {name for name in dir(resolve_name(kind)) if not name.startswith("_")}
    harmless = set(HARMLESS_METHODS[kind].split())
    assert public - harmless - set(NAMES) - SETTINGS == set()
    assert harmless & (set(NAMES) | SETTINGS) == set()
