import io.trino.Session;
import io.trino.execution.QueryInfo;
import io.trino.execution.StageInfo;
import io.trino.execution.StagesInfo;
import io.trino.execution.TableInfo;
import io.trino.operator.OperatorStats;
import io.trino.plugin.hive.HivePlugin;
import io.trino.plugin.iceberg.IcebergPlugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedResult;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import static io.trino.testing.TestingSession.testSessionBuilder;

/**
 * Trino's server in one process, on loopback, with Hive's and Iceberg's connectors over a folder, its only argument:
 * statements in, a line each: "session CATALOG SCHEMA NAME=VALUE …" (the current one from then on), "run" or "scans"
 * and the text in base64; out, a line each: "ok" or "error", and in base64 the rows, sorted; what its statistics say of
 * the scans; or why not.
 */
public class Trino {
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        Session session = testSessionBuilder().build();
        try (DistributedQueryRunner trino = DistributedQueryRunner.builder(session).setWorkerCount(0)
                .addExtraProperty("join-distribution-type", "AUTOMATIC") // as outside of its tests
                .build()) {
            Map<String, String> files = Map.of("fs.local.enabled", "true", "local.location", args[0]);
            trino.installPlugin(new HivePlugin());
            trino.installPlugin(new IcebergPlugin());
            trino.createCatalog("hive", "hive", with(files, Map.of(
                    "hive.metastore", "file", "hive.metastore.catalog.dir", "local:///hive")));
            trino.createCatalog("iceberg", "iceberg", with(files, Map.of(
                    "iceberg.catalog.type", "TESTING_FILE_METASTORE", "hive.metastore.catalog.dir", "local:///iceberg")));
            out.println("up");
            out.flush();
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] asked = line.split(" ");
                String said = "ok ";
                String told = "";
                try {
                    if (asked[0].equals("session")) {
                        session = session(asked);
                    }
                    else {
                        String sql = new String(Base64.getDecoder().decode(asked[1]), StandardCharsets.UTF_8);
                        told = asked[0].equals("run") ? rows(trino.execute(session, sql)) : scans(trino, session, sql);
                    }
                }
                catch (Throwable e) {
                    said = "error ";
                    told = String.valueOf(e.getMessage());
                }
                out.println(said + "=" + Base64.getEncoder().encodeToString(told.getBytes(StandardCharsets.UTF_8)));
                out.flush();
            }
        }
        System.exit(0);
    }

    private static Map<String, String> with(Map<String, String> some, Map<String, String> more) {
        return Stream.of(some, more).flatMap(it -> it.entrySet().stream())
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private static Session session(String[] asked) {
        Session.SessionBuilder made = testSessionBuilder().setCatalog(asked[1]).setSchema(asked[2]);
        for (int i = 3; i < asked.length; i++) {
            String[] said = asked[i].split("=");
            String[] name = said[0].split("\\.");
            if (name.length == 1) {
                made.setSystemProperty(name[0], said[1]);
            }
            else {
                made.setCatalogSessionProperty(name[0], name[1], said[1]);
            }
        }
        return made.build();
    }

    private static String rows(MaterializedResult result) {
        return result.getMaterializedRows().stream()
                .map(row -> String.valueOf(row.getFields())).sorted().collect(Collectors.joining("\n"));
    }

    /** A line for each scan, its table, splits and rows read, with tabs between; a line for each dynamic filter. */
    private static String scans(DistributedQueryRunner trino, Session session, String sql) {
        QueryInfo ran = trino.getCoordinator().getQueryManager()
                .getFullQueryInfo(trino.executeWithPlan(session, sql).queryId());
        StringBuilder told = new StringBuilder();
        for (StageInfo stage : StagesInfo.getAllStages(ran.getStages())) {
            for (OperatorStats it : stage.stageStats().getOperatorSummaries()) {
                TableInfo table = stage.tables().get(it.getSourceId().orElse(it.getPlanNodeId()));
                if (it.getOperatorType().contains("Scan") && table != null) {
                    told.append("%s\t%d\t%d\n".formatted(table.tableName().asSchemaTableName().getTableName(),
                            it.getTotalDrivers(), it.getPhysicalInputPositions()));
                }
            }
        }
        ran.getQueryStats().getDynamicFiltersStats().getDynamicFilterDomainStats()
                .forEach(it -> told.append(it.getSimplifiedDomain()).append('\n'));
        return told.toString();
    }
}
