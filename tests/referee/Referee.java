import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkThrowable;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.MemoryManager;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CoalesceExec;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;
import org.apache.spark.storage.BlockInfo;

/**
 * Answers a text inside Spark's process, in the thread that asks (the harness compiles this class
 * with the Janino that Spark brings along, which knows neither generics nor lambdas).
 *
 * Spark's parser, analyzer, optimizer and planner do what they always do. But a job with its
 * stages and tasks costs more than the few rows of a referee's query: where the plan has one
 * partition anyway, an exchange becomes the union of its partitions, and the rows are drawn right
 * here, in a task context of our own. Subqueries and broadcasts remain jobs.
 */
public class Referee {
    private static final AtomicLong TASKS = new AtomicLong(1L << 40);
    private final MemoryManager memory;

    public Referee() throws Throwable {
        // not called by name: Janino would look at classes that Spark's jars do not bring along
        Class env = Class.forName("org.apache.spark.SparkEnv");
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle get = lookup.findStatic(env, "get", MethodType.methodType(env));
        MethodHandle manager =
            lookup.findVirtual(env, "memoryManager", MethodType.methodType(MemoryManager.class));
        Object here = get.invokeWithArguments(new Object[0]);
        memory = (MemoryManager) manager.invokeWithArguments(new Object[] {here});
    }

    /** The condition of the error with which the text is refused before it runs; else empty. */
    public String refusal(SparkSession session, String sql) {
        try {
            session.sql(sql);
            return "";
        } catch (Throwable error) {
            return condition(error);
        }
    }

    /**
     * The columns as JSON (empty: refused before it ran), the condition of the error (empty:
     * none), and the rows or the error, each on its line.
     */
    public String answer(final SparkSession session, String sql) {
        final scala.Option before = SparkSession.getActiveSession();
        SparkSession.setActiveSession(session);
        try {
            return told(session, sql);
        } finally { // the thread runs the queries of other tests, too
            if (before.isDefined()) SparkSession.setActiveSession((SparkSession) before.get());
            else SparkSession.clearActiveSession();
        }
    }

    private String told(final SparkSession session, String sql) {
        String columns = "";
        try {
            Dataset frame = session.sql(sql);
            columns = frame.schema().json();
            final SparkPlan plan = frame.queryExecution().executedPlan();
            Object rows = SQLExecution$.MODULE$.withSQLConfPropagated(session, new Rows(plan));
            return columns + "\n\n" + rows;
        } catch (Throwable error) {
            return columns + "\n" + condition(error) + "\n" + error;
        }
    }

    private static String condition(Throwable error) {
        if (error instanceof SparkThrowable && ((SparkThrowable) error).getCondition() != null)
            return ((SparkThrowable) error).getCondition();
        return error.getClass().getSimpleName();
    }

    /** Whether the rows of the plan stand in one partition, its exchanges being there for form. */
    private static boolean narrow(SparkPlan plan) {
        return plan.session().sessionState().conf().numShufflePartitions() == 1;
    }

    private class Rows extends scala.runtime.AbstractFunction0 {
        private final SparkPlan plan;

        Rows(SparkPlan plan) {
            this.plan = plan;
        }

        public Object apply() {
            StringBuilder told = new StringBuilder();
            if (narrow(plan)) {
                RDD rows = ((SparkPlan) plan.transformUp(new Exchanges())).execute();
                if (!shuffles(rows)) {
                    draw(rows, told);
                    return told.toString();
                }
            }
            InternalRow[] rows = plan.executeCollect();
            for (int at = 0; at < rows.length; at++) told.append(rows[at]).append('\n');
            return told.toString();
        }
    }

    /** An exchange to one partition, without the job that would write it to files. */
    public static class Exchanges extends scala.runtime.AbstractPartialFunction {
        public boolean isDefinedAt(Object plan) {
            return plan instanceof ShuffleExchangeExec;
        }

        public Object applyOrElse(Object plan, scala.Function1 other) {
            if (!isDefinedAt(plan)) return other.apply(plan);
            return new CoalesceExec(1, ((ShuffleExchangeExec) plan).child());
        }
    }

    private static boolean shuffles(RDD rows) {
        scala.collection.Iterator each = rows.dependencies().iterator();
        while (each.hasNext()) {
            Dependency one = (Dependency) each.next();
            if (one instanceof ShuffleDependency || shuffles(one.rdd())) return true;
        }
        return false;
    }

    private void draw(RDD rows, StringBuilder told) {
        Properties settings = rows.sparkContext().getLocalProperties();
        Partition[] partitions = rows.partitions();
        for (int at = 0; at < partitions.length; at++) {
            TaskMemoryManager pages = new TaskMemoryManager(memory, TASKS.getAndIncrement());
            TaskContextImpl context = new TaskContextImpl(
                0, 0, at, BlockInfo.NON_TASK_WRITER(), 0, partitions.length, pages, settings, null,
                TaskMetrics.empty(), new scala.math.BigDecimal(java.math.BigDecimal.ONE),
                new scala.collection.immutable.HashMap());
            TaskContext$.MODULE$.setTaskContext(context);
            try {
                scala.collection.Iterator each = rows.iterator(partitions[at], context);
                while (each.hasNext()) told.append(each.next()).append('\n');
            } finally {
                try {
                    context.markTaskCompleted(scala.Option.apply(null));
                } finally {
                    TaskContext$.MODULE$.unset();
                    pages.cleanUpAllAllocatedMemory();
                }
            }
        }
    }
}
