package org.jrdma.stress;

import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.ffi.guard.Barrier;
import org.openjdk.jcstress.JCStress;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;

/**
 * Runs jcstress. Also fails if tests could not be loaded, because jcstress does not count them as
 * failures. All tests run with membarrier(2). The tests of the guard also run with thread
 * handshakes.
 */
final class JcstressMain {

    private static final String TESTS_OF_THE_GUARD =
            CloseDuringGuardedCall.class.getSimpleName()
                    + "|"
                    + CloseDuringDelayedEnter.class.getSimpleName();

    private JcstressMain() {}

    public static void main(String... arguments) throws Exception {
        if (Barrier.ofThisProcess() == Barrier.MEMBARRIER) {
            run(arguments, "-jvmArgsPrepend", jvmArguments("membarrier"));
            run(arguments, "-jvmArgsPrepend", jvmArguments("handshake"), "-t", TESTS_OF_THE_GUARD);
        } else if (Boolean.parseBoolean(System.getenv("CI"))) {
            throw new AssertionError("membarrier(2) cannot be tested on this kernel");
        } else {
            System.out.println(
                    "This kernel does not support membarrier(2). Only handshakes are tested.");
            run(arguments, "-jvmArgsPrepend", jvmArguments("handshake"));
        }
    }

    private static String jvmArguments(String barrier) {
        return "--enable-native-access=ALL-UNNAMED -Djrdma.guard=" + barrier;
    }

    private static void run(String[] arguments, String... more) throws Exception {
        var options =
                new Options(
                        Stream.concat(Stream.of(arguments), Stream.of(more))
                                .toArray(String[]::new));
        if (!options.parse()) {
            System.exit(1);
        }
        new JCStress(options).run();

        var results = new InProcessCollector();
        new DiskReadCollector(options.getResultFile(), results).dump();
        if (results.getTestResults().isEmpty()) {
            throw new AssertionError("jcstress did not run any test.");
        }
        var notRun =
                results.getTestResults().stream()
                        .filter(result -> result.status() != Status.NORMAL)
                        .map(TestResult::getName)
                        .collect(Collectors.toSet());
        if (!notRun.isEmpty()) {
            throw new AssertionError("jcstress could not run: " + notRun);
        }
    }
}
