package org.jrdma.stress.fuzz;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Ends calls that wait too long: interrupts the thread, then closes the object. If the call still
 * does not end, reports a hang and terminates the JVM.
 */
final class WaitingCallWatchdog implements Runnable {

    static final int HANG = 3;

    private static final Duration PAUSE = Duration.ofMillis(5);
    private static final long INTERRUPT_NANOS = Duration.ofMillis(20).toNanos();
    private static final long CLOSE_NANOS = Duration.ofMillis(200).toNanos();

    /**
     * The duration of a hang. A SISCI node waits in close() for each object that peers use, for at
     * most 5 s.
     */
    private static final long HANG_NANOS = Duration.ofMinutes(2).toNanos();

    private final List<Fuzzer> fuzzers;

    WaitingCallWatchdog(List<Fuzzer> fuzzers) {
        this.fuzzers = fuzzers;
    }

    @Override
    public void run() {
        try {
            while (true) {
                watchAll();
            }
        } catch (InterruptedException _) {
            // The run has ended.
        }
    }

    private void watchAll() throws InterruptedException {
        try {
            Thread.sleep(PAUSE);
            for (var fuzzer : fuzzers) {
                watch(fuzzer);
            }
        } catch (OutOfMemoryError _) {
            // The heap is full, or an interrupt has closed a channel on this thread.
        }
    }

    private static void watch(Fuzzer fuzzer) {
        var current = fuzzer.current();
        if (current == null) {
            return;
        }
        var duration = System.nanoTime() - current.since();
        var isFirst = duration < INTERRUPT_NANOS + 2 * PAUSE.toNanos();
        // Interrupts are repeated rarely, because some waits of the JDK start again when they are
        // interrupted.
        if (duration > INTERRUPT_NANOS
                && (isFirst || ThreadLocalRandom.current().nextInt(100) == 0)) {
            current.thread().interrupt();
        }
        if (duration > CLOSE_NANOS
                && current.receiver() != null
                && !current.closing().getAndSet(true)) {
            Thread.ofPlatform()
                    .daemon()
                    .name("fuzzer-close")
                    .start(() -> fuzzer.close(current.receiver()));
        }
        if (duration > HANG_NANOS) {
            hang(ApiSurface.name(current.call()) + " on " + current.thread());
        }
    }

    /** Reports a hang with the stacks of all threads, and ends the JVM. */
    static void hang(String what) {
        System.out.println("FINDING hang: " + what);
        try {
            var folder = Files.createTempDirectory("jrdma-fuzz");
            var file = folder.resolve("threads.txt");
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpThreads(
                            file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
            System.out.println(Files.readString(file));
            Files.delete(file);
            Files.delete(folder);
        } catch (IOException e) {
            e.printStackTrace(System.out);
        }
        System.out.flush();
        Runtime.getRuntime().halt(HANG);
    }

    /** The resources of this process. */
    record Usage(long heap, long descriptors, long threads, long resident) {

        static Usage now() throws IOException, JMException {
            System.gc();
            // Otherwise, the resident memory contains memory that the C library keeps after the
            // compiler has freed it.
            ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "systemTrimNativeHeap",
                            null,
                            null);
            var heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            try (var descriptors = Files.list(Path.of("/proc/self/fd"));
                    var threads = Files.list(Path.of("/proc/self/task"))) {
                var resident = Files.readString(Path.of("/proc/self/statm")).split(" ", -1)[1];
                return new Usage(
                        heap,
                        descriptors.count(),
                        threads.count(),
                        Long.parseLong(resident) * 4096);
            }
        }

        Usage plusDescriptors(long count) {
            return new Usage(heap, descriptors + count, threads, resident);
        }

        /** Returns the number of open file descriptors of each kind. */
        static Map<String, Long> openFiles() throws IOException {
            var files = new TreeMap<String, Long>();
            try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
                for (var descriptor : descriptors.toList()) {
                    try {
                        var file = Files.readSymbolicLink(descriptor).toString();
                        files.merge(file.replaceAll("\\d+", "N"), 1L, Long::sum);
                    } catch (NoSuchFileException _) {
                        // The descriptor of the listing itself.
                    }
                }
            }
            return files;
        }

        /** Returns the number of platform threads of each kind. */
        static Map<String, Long> threadNames() {
            var names = new TreeMap<String, Long>();
            for (var thread : Thread.getAllStackTraces().keySet()) {
                names.merge(thread.getName().replaceAll("\\d+", "N"), 1L, Long::sum);
            }
            return names;
        }

        /**
         * Describes the resources whose usage has grown too much since an earlier time. Returns an
         * empty string if there are none.
         */
        String growthSince(Usage earlier) {
            var text = new StringBuilder();
            append(text, "heap bytes", earlier.heap, heap, 8 << 20);
            append(text, "descriptors", earlier.descriptors, descriptors, 16);
            append(text, "threads", earlier.threads, threads, 16);
            append(text, "resident bytes", earlier.resident, resident, 128 << 20);
            return text.toString();
        }

        private static void append(
                StringBuilder text, String what, long before, long now, long allowed) {
            if (now > before + allowed) {
                text.append("%s: from %,d to %,d. ".formatted(what, before, now));
            }
        }
    }
}
