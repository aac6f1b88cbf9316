package org.jrdma.stress;

import java.util.stream.Collectors;
import org.openjdk.jcstress.JCStress;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;

/** Runs jcstress, which by itself counts tests that could not be loaded as no failure. */
final class Run {

    private Run() {}

    public static void main(String... arguments) throws Exception {
        var options = new Options(arguments);
        if (!options.parse()) {
            System.exit(1);
        }
        new JCStress(options).run();

        var results = new InProcessCollector();
        new DiskReadCollector(options.getResultFile(), results).dump();
        if (results.getTestResults().isEmpty()) {
            throw new AssertionError("jcstress ran no test");
        }
        var notRun =
                results.getTestResults().stream()
                        .filter(result -> result.status() != Status.NORMAL)
                        .map(TestResult::getName)
                        .collect(Collectors.toSet());
        if (!notRun.isEmpty()) {
            throw new AssertionError("jcstress could not run " + notRun);
        }
    }
}
