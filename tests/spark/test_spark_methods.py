"""PySpark's own methods, walked: each is known to change names or settings, or to change none."""

from __future__ import annotations

import pytest
from pyspark import SparkConf
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession, SQLContext
from pyspark.sql.catalog import Catalog as SparkCatalog
from pyspark.sql.conf import RuntimeConfig
from pyspark.sql.merge import MergeIntoWriter
from pyspark.sql.readwriter import DataFrameWriterV2
from pyspark.sql.streaming.readwriter import DataStreamWriter

from sqlrewrite.text.hosts.spark_calls import NAMES, SETTINGS

pytestmark = pytest.mark.spark

HARMLESS_METHODS = {
    SparkSession: """
        Builder active addArtifact addArtifacts addTag builder catalog clearProgressHandlers
        clearTags client conf copyFromLocalToFs createDataFrame dataSource emptyDataFrame
        getActiveSession getTags interruptAll interruptOperation interruptTag newSession profile
        range read readStream registerProgressHandler removeProgressHandler removeTag sparkContext
        sql stop streams table tvf udf udtf version""",
    SparkSession.Builder: "appName create enableHiveSupport getOrCreate master remote",
    SparkCatalog: """
        analyzeTable cacheTable clearCache createDatabase currentCatalog currentDatabase
        databaseExists functionExists getCreateTableString getDatabase getFunction getTable
        getTableProperties isCached listCatalogs listColumns listDatabases listFunctions
        listPartitions listTables listViews recoverPartitions refreshByPath refreshTable
        registerFunction tableExists truncateTable uncacheTable""",
    DataFrame: """
        agg alias approxQuantile asTable cache checkpoint coalesce colRegex collect columns corr
        count cov crossJoin crosstab cube describe distinct drop dropDuplicates
        dropDuplicatesWithinWatermark drop_duplicates dropna dtypes exceptAll executionInfo exists
        explain fillna filter first foreach foreachPartition freqItems groupBy groupby groupingSets
        head hint inputFiles intersect intersectAll isEmpty isLocal isStreaming join lateralJoin
        limit localCheckpoint mapInArrow mapInPandas melt mergeInto metadataColumn na nearestByJoin
        observe offset orderBy pandas_api persist plot printSchema randomSplit rdd repartition
        repartitionById repartitionByRange replace rollup sameSemantics sample sampleBy scalar
        schema select selectExpr semanticHash show sort sortWithinPartitions sparkSession stat
        storageLevel subtract summary tail take to toArrow toDF toJSON toLocalIterator toPandas
        transform transpose union unionAll unionByName unpersist unpivot where withColumn
        withColumnRenamed withColumns withColumnsRenamed withMetadata withWatermark write
        writeStream zip zipWithIndex""",
    DataFrameWriter: """
        bucketBy clusterBy csv format insertInto jdbc json mode orc parquet partitionBy save sortBy
        text xml""",
    DataFrameWriterV2: """
        append clusterBy create createOrReplace overwrite overwritePartitions partitionedBy replace
        tableProperty using""",
    DataStreamWriter: """
        clusterBy foreach foreachBatch format outputMode partitionBy trigger""",
    MergeIntoWriter: """
        WhenMatched WhenNotMatched WhenNotMatchedBySource merge whenMatched whenNotMatched
        whenNotMatchedBySource withSchemaEvolution""",
    RuntimeConfig: "get getAll isModifiable",
    SparkConf: "contains get getAll setAppName setExecutorEnv setMaster setSparkHome toDebugString",
    SQLContext: """
        cacheTable clearCache createDataFrame getConf getOrCreate newSession range read readStream
        registerFunction registerJavaFunction sql streams table tableNames tables udf udtf
        uncacheTable""",
}
"""The public methods of PySpark 4.3 after which names and settings are what they were: what writes
rows changes no name, what DataFrameWriterV2 makes is named to ``writeTo``, and ``sql`` is read."""


@pytest.mark.parametrize("kind", HARMLESS_METHODS, ids=lambda kind: str(kind.__name__))
def test_each_method_of_pyspark_is_known(kind: type) -> None:
    public = {name for name in dir(kind) if not name.startswith("_")}
    harmless = set(HARMLESS_METHODS[kind].split())
    assert public - harmless - set(NAMES) - SETTINGS == set()
    assert harmless & (set(NAMES) | SETTINGS) == set()
