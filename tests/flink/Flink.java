import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Flink in one process, in batch mode, on one cluster of one task manager: statements in, a line each, "session" (all
 * tables are forgotten), "option CLASS FIELD" of its planner or "run" and the text in base64; out, a line each: "ok" or "error", and in base64 the rows,
 * sorted, or why not.
 */
public class Flink {
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        Configuration settings = new Configuration();
        settings.setString("parallelism.default", "1");
        settings.setString("rest.bind-port", "0");
        settings.setString("rest.address", "127.0.0.1");
        settings.setString("rest.bind-address", "127.0.0.1");
        settings.setString("taskmanager.memory.managed.size", "256m");
        settings.setString("taskmanager.memory.network.min", "64m");
        settings.setString("taskmanager.memory.network.max", "64m");
        MiniCluster cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(settings).setNumTaskManagers(1).setNumSlotsPerTaskManager(16).build());
        cluster.start();
        URI rest = cluster.getRestAddress().get();
        settings.setString("execution.target", "remote");
        settings.setString("rest.address", rest.getHost());
        settings.setString("rest.port", String.valueOf(rest.getPort()));
        TableEnvironment flink = session(settings);
        out.println("up");
        out.flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] asked = line.split(" ");
            String said = "ok ";
            String told = "";
            try {
                if (asked[0].equals("session")) {
                    flink = session(settings);
                }
                else if (asked[0].equals("option")) {
                    told = option(asked[1], asked[2]);
                }
                else {
                    told = run(flink, new String(Base64.getDecoder().decode(asked[1]), StandardCharsets.UTF_8));
                }
            }
            catch (Throwable e) {
                said = "error ";
                told = reasons(e);
            }
            out.println(said + "=" + Base64.getEncoder().encodeToString(told.getBytes(StandardCharsets.UTF_8)));
            out.flush();
        }
        System.exit(0);
    }

    private static TableEnvironment session(Configuration settings) {
        return TableEnvironment.create(
                EnvironmentSettings.newInstance().inBatchMode().withConfiguration(settings).build());
    }

    private static String run(TableEnvironment flink, String sql) throws Exception {
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<Row> found = flink.executeSql(sql).collect()) {
            found.forEachRemaining(row -> rows.add(row.toString()));
        }
        Collections.sort(rows);
        return String.join("\n", rows);
    }

    /** What an option is by default. The planner is in a class loader of its own, which nobody is handed. */
    private static String option(String type, String field) throws Exception {
        Class<?> module = Class.forName("org.apache.flink.table.planner.loader.PlannerModule");
        Method instance = module.getDeclaredMethod("getInstance");
        instance.setAccessible(true);
        Field loader = module.getDeclaredField("submoduleClassLoader");
        loader.setAccessible(true);
        ClassLoader planner = (ClassLoader) loader.get(instance.invoke(null));
        Field option = Class.forName(type, true, planner).getDeclaredField(field);
        option.setAccessible(true);
        return String.valueOf(((ConfigOption<?>) option.get(null)).defaultValue());
    }

    private static String reasons(Throwable error) {
        StringBuilder said = new StringBuilder();
        for (Throwable it = error; it != null; it = it.getCause()) {
            said.append(it.getMessage()).append('\n');
        }
        return said.toString();
    }
}
