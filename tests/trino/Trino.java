import io.trino.Session;
import io.trino.plugin.memory.MemoryPlugin;
import io.trino.testing.LocalQueryRunner;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import static io.trino.testing.TestingSession.testSessionBuilder;

/**
 * Trino in one process, its own parser, planner and operators: statements in, a line each, "catalog NAME" (empty when
 * it is new, and the current one from then on) or "run" and the text in base64; out, a line each: "ok" or "error", and
 * in base64 the rows, sorted, or why not.
 */
public class Trino {
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        Session session = testSessionBuilder().build();
        try (LocalQueryRunner trino = LocalQueryRunner.create(session)) {
            trino.installPlugin(new MemoryPlugin());
            Set<String> catalogs = new HashSet<>();
            out.println("up");
            out.flush();
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] asked = line.split(" ");
                String said = "ok ";
                String told = "";
                try {
                    if (asked[0].equals("catalog")) {
                        if (catalogs.add(asked[1])) {
                            trino.createCatalog(asked[1], "memory", Map.of());
                        }
                        session = testSessionBuilder().setCatalog(asked[1]).setSchema("default").build();
                    }
                    else {
                        String sql = new String(Base64.getDecoder().decode(asked[1]), StandardCharsets.UTF_8);
                        told = trino.execute(session, sql).getMaterializedRows().stream()
                                .map(row -> String.valueOf(row.getFields())).sorted().collect(Collectors.joining("\n"));
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
}
