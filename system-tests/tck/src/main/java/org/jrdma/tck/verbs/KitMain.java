package org.jrdma.tck.verbs;

import static org.junit.platform.engine.discovery.ClassNameFilter.includeClassNamePatterns;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;

import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the test classes in one JVM, and prints the result of each test when it ends. */
public final class KitMain {

    private KitMain() {}

    /**
     * Runs the tests, and exits with 0 if at least one test passed and none failed. If the
     * environment variable CI is true, a skip for a reason that the profile does not list counts as
     * a failure.
     *
     * @param arguments optionally, a regular expression that selects test classes by a part of
     *     their simple name; by default, all classes run
     */
    public static void main(String... arguments) {
        var filter = arguments.length == 0 ? "" : arguments[0];
        var report = new Report(System.out, "true".equals(System.getenv("CI")));
        var request =
                LauncherDiscoveryRequestBuilder.request()
                        .selectors(selectPackage(KitMain.class.getPackageName()))
                        .filters(includeClassNamePatterns(".*\\.[^.]*(" + filter + ")[^.]*Test"))
                        .build();
        var launcher = LauncherFactory.create();
        if (!launcher.discover(request).containsTests()) {
            System.err.printf("No test class has a name that matches '%s'.%n", filter);
            System.exit(1);
        }
        launcher.execute(request, report);
        // Exits explicitly: threads of the SDK and of failed tests must not keep the JVM running.
        System.exit(report.finish() ? 0 : 1);
    }

    private static final class Report implements TestExecutionListener {

        private final PrintStream out;
        private final boolean failOnSkip;
        private final long start = System.nanoTime();
        private long testStart;
        private int passed;
        private int failed;
        private int skipped;

        Report(PrintStream out, boolean failOnSkip) {
            this.out = out;
            this.failOnSkip = failOnSkip;
        }

        @Override
        public void executionStarted(TestIdentifier test) {
            testStart = System.nanoTime();
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            skip(test, reason, false);
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            var cause = result.getThrowable();
            switch (result.getStatus()) {
                case SUCCESSFUL -> {
                    if (test.isTest()) {
                        passed++;
                        print("passed", test, "");
                    }
                }
                case ABORTED ->
                        skip(
                                test,
                                cause.map(Throwable::getMessage).orElse(""),
                                cause.filter(Fabric.Listed.class::isInstance).isPresent());
                case FAILED -> {
                    failed++;
                    print("FAILED", test, "");
                    cause.ifPresent(this::printFailure);
                }
            }
        }

        /**
         * Prints an exception and its causes with the stack frames of this project's classes only.
         */
        private void printFailure(Throwable failure) {
            out.println("    " + failure);
            for (var frame : failure.getStackTrace()) {
                if (frame.getClassName().startsWith("org.jrdma.")) {
                    out.println("        at " + frame);
                }
            }
            if (failure.getCause() != null) {
                out.print("    caused by");
                printFailure(failure.getCause());
            }
        }

        private void skip(TestIdentifier test, String reason, boolean listed) {
            if (listed || !failOnSkip) {
                skipped++;
                print("skipped", test, ": " + reason);
            } else {
                failed++;
                print("FAILED", test, ": skipped for an unlisted reason: " + reason);
            }
        }

        private void print(String result, TestIdentifier test, String more) {
            out.printf(
                    "%-7s %s (%d ms)%s%n",
                    result,
                    name(test),
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - testStart),
                    more);
            out.flush();
        }

        private static String name(TestIdentifier test) {
            var source = test.getSource().orElse(null);
            if (source instanceof MethodSource method) {
                var inClass = method.getJavaClass().getSimpleName() + "." + method.getMethodName();
                return test.getDisplayName().startsWith(method.getMethodName())
                        ? inClass
                        : inClass + " " + test.getDisplayName();
            }
            return source instanceof ClassSource type
                    ? type.getJavaClass().getSimpleName()
                    : test.getDisplayName();
        }

        boolean finish() {
            out.printf(
                    "In %d s on " + Fabric.underTest() + ":%n%d passed, %d failed, %d skipped%n",
                    TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start),
                    passed,
                    failed,
                    skipped);
            return failed == 0 && passed > 0;
        }
    }
}
