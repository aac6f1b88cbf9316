package org.jrdma.stress.fuzz;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.stress.fuzz.WaitingCallWatchdog.Usage;

/**
 * The main class of the fuzzer, which runs in a separate JVM. Arguments: the target, the number of
 * calls, the seed, and options. Exit codes: 0 no finding, 1 findings, 3 hang.
 */
final class FuzzChildMain {

    private static final int THREADS = 6;

    /**
     * The number of threads for SISCI. It is higher, because the close of a segment waits until its
     * peers have disconnected.
     */
    private static final int THREADS_OF_SISCI = 24;

    private static final int EPOCHS = 4;
    private static final int CALLS_UNTIL_END = 2_000;

    /**
     * The maximum number of epochs of a run. Until then, the run must have injected the required
     * failures.
     */
    private static final int MAX_EPOCHS = 200;

    /** The number of allocations that must fail in a run with the option "inject". */
    private static final int FAILURES = Integer.getInteger("jrdma.fuzz.failures", 30);

    private final String name;
    private final Target target;
    private final ApiSurface surface;
    private final ExceptionRules findings;
    private final List<String> options;
    private final long seed;

    /**
     * This thread ends when the standard input ends. The test keeps the input open during an
     * attack.
     */
    private final Thread input =
            Thread.ofPlatform().daemon().name("input").unstarted(FuzzChildMain::awaitEndOfInput);

    private FuzzChildMain(String name, long seed, List<String> options) throws Exception {
        this.name = name;
        this.target = Target.named(name, (int) ProcessHandle.current().pid());
        this.surface = new ApiSurface(target.modules());
        this.seed = seed;
        this.options = options;
        this.findings = new ExceptionRules(surface, options);
    }

    public static void main(String... arguments) throws Exception {
        var calls = Long.parseLong(arguments[1]);
        var seed = Long.parseLong(arguments[2]);
        System.out.println("Fuzz " + String.join(" ", arguments));
        var options = Arrays.asList(arguments).subList(3, arguments.length);
        var fuzz = new FuzzChildMain(arguments[0], seed, options);
        var code = fuzz.run(calls) ? 0 : 1;
        System.out.flush();
        Runtime.getRuntime().halt(code); // Listeners of the run may keep user threads alive.
    }

    private boolean run(long calls) throws Exception {
        findings.watchThreads();
        verify();
        System.out.println("Address " + target.address().getHostAddress());
        var usages = new ArrayList<Usage>();
        var start = System.nanoTime();
        var untilEnd = options.contains("until-end-of-input");
        var callsOfEpoch = untilEnd ? CALLS_UNTIL_END : calls / EPOCHS;
        input.start();
        var done = 0L;
        for (var epoch = 0; untilEnd ? input.isAlive() || epoch < 2 : needs(epoch); epoch++) {
            done += callsOfEpoch;
            epoch(callsOfEpoch, seed + 1000L * epoch, epoch == 0);
            usages.add(usage(afterWarmUp(usages)));
            System.out.printf(Locale.ROOT, "Epoch %d: %s%n", epoch, usages.getLast());
        }
        verify(); // The input is closed after the end of an attack.
        if (isLackingFailures()) {
            findings.add("Too few allocations failed", new AssertionError());
        }
        if (options.contains("stack") && findings.count(StackOverflowError.class) == 0) {
            findings.add("No call has overflowed the stack", new AssertionError());
        }
        var first = afterWarmUp(usages);
        var growth = usage(first).growthSince(first);
        if (!growth.isEmpty()) {
            findings.add("Leak of " + growth, new AssertionError());
            System.out.println("Descriptors: " + Usage.openFiles());
            System.out.println("Threads: " + Usage.threadNames());
        }
        findings.print(options.contains("verbose"));
        System.out.printf(
                Locale.ROOT,
                "%s: %,d calls in %.1f s, %,d allocations failed, %s%n",
                name,
                done,
                (System.nanoTime() - start) / 1e9,
                AllocationFailureAgent.injected(),
                findings.isEmpty() ? "no findings" : "with findings");
        return findings.isEmpty();
    }

    /**
     * Returns the usage after the first quarter of the epochs, in which classes are loaded and
     * compiled, or null before the first epoch. Later epochs must not use more resources. An object
     * stays open, as in C, if the function that destroys it fails, so each failed allocation may
     * cost a descriptor.
     */
    private Usage afterWarmUp(List<Usage> usages) {
        var failed = AllocationFailureAgent.injected() + findings.count(OutOfMemoryError.class);
        return usages.isEmpty() ? null : usages.get(usages.size() / 4).plusDescriptors(failed);
    }

    private boolean needs(int epoch) {
        return epoch < EPOCHS || (isLackingFailures() && epoch < MAX_EPOCHS);
    }

    private boolean isLackingFailures() {
        return options.contains("inject") && AllocationFailureAgent.injected() < FAILURES;
    }

    private static void awaitEndOfInput() {
        try {
            System.in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void epoch(long calls, long epochSeed, boolean isFirst) throws Exception {
        var pool = new ObjectPool();
        var shared =
                new Fuzzer.Shared(
                        surface,
                        target,
                        pool,
                        findings,
                        new AtomicLong(calls),
                        options.contains("stack"));
        var fuzzers = new ArrayList<Fuzzer>();
        var threads = new ArrayList<Thread>();
        var count = name.equals("sisci") ? THREADS_OF_SISCI : THREADS;
        for (var index = 0; index < count; index++) {
            var trace = new CallTrace(Path.of("trace-" + index));
            var fuzzer = new Fuzzer(shared, trace, epochSeed + index);
            fuzzers.add(fuzzer);
            // A virtual thread never continues if the JDK has no memory for the timer of a wait.
            var isVirtual = index % 3 == 2 && !options.contains("heap");
            var builder = isVirtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
            threads.add(builder.name("fuzzer-" + index).unstarted(fuzzer));
        }
        if (isFirst && options.isEmpty()) {
            fuzzers.getFirst().seedUndisturbed();
        }
        var watchdog =
                Thread.ofPlatform()
                        .daemon()
                        .name("watchdog")
                        .start(new WaitingCallWatchdog(fuzzers));
        // The first epoch loads the classes, and is not disturbed.
        AllocationFailureAgent.arm(options.contains("inject") && !isFirst);
        var heapFiller = options.contains("heap") && !isFirst ? HeapFiller.start() : null;
        if (options.contains("descriptors") && !isFirst) {
            limitDescriptors(Usage.now().descriptors() + 25);
        }
        var link = options.contains("link") ? LinkChanger.start(target) : null;
        threads.forEach(Thread::start);
        for (var thread : threads) {
            thread.join();
        }
        AllocationFailureAgent.arm(false);
        if (link != null) {
            link.stop();
        }
        if (heapFiller != null) {
            heapFiller.stop();
        }
        watchdog.interrupt();
        watchdog.join();
        if (options.contains("descriptors")) {
            limitDescriptors(16_384);
        }
        runWithTimeout(
                "closing all objects", () -> pool.drain().forEach(fuzzers.getFirst()::close));
        if (options.contains("full")) {
            // The segments of streams that both peers have closed are removed within a second.
            Thread.sleep(Duration.ofSeconds(3));
        }
        verify();
    }

    /**
     * Sets the soft limit of open files for this process. The JVM has raised this limit at its
     * start.
     */
    private static void limitDescriptors(long count) throws Exception {
        var pid = Long.toString(ProcessHandle.current().pid());
        var process =
                new ProcessBuilder("prlimit", "--pid", pid, "--nofile=" + count + ":")
                        .inheritIO()
                        .start();
        Target.check(process.waitFor() == 0, "prlimit failed");
    }

    private void verify() throws InterruptedException {
        runWithTimeout(
                "the check that the target works",
                () -> {
                    var attacked = options.contains("attacked") && input.isAlive();
                    try {
                        target.verify();
                    } catch (Exception | AssertionError e) {
                        if (attacked) {
                            findings.count("transfer that an attack prevented");
                        } else {
                            findings.add("The target no longer works", e);
                        }
                    }
                });
    }

    private static void runWithTimeout(String what, Runnable task) throws InterruptedException {
        var thread = Thread.ofPlatform().daemon().name("fuzzer-end").start(task);
        if (!thread.join(Duration.ofMinutes(2))) {
            WaitingCallWatchdog.hang(what);
        }
    }

    /** Measures the resource usage, after waiting some seconds for background tasks to end. */
    private Usage usage(Usage first) throws Exception {
        var usage = Usage.now();
        for (var wait = 0; wait < 20; wait++) {
            if (first != null && usage.growthSince(first).isEmpty()) {
                break;
            }
            Thread.sleep(first == null ? 50 : 250);
            usage = Usage.now();
        }
        return usage;
    }
}
