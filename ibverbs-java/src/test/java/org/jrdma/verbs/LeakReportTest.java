package org.jrdma.verbs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import org.jrdma.verbs.model.Access;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the reports of leaked objects. A leaked object can be reported only if no part of the SDK,
 * such as a destructor or an event dispatcher, keeps it reachable.
 */
@Timeout(30)
class LeakReportTest {

    private static final List<String> LEAKS =
            List.of(
                    "device fake0 was never closed",
                    " of fake0 was never closed",
                    "protection domain",
                    "completion queue",
                    "memory region of 64 bytes (LOCAL_WRITE) on fake0 was never closed",
                    "queue pair 0x001234 of fake0 was never closed");

    private final PrintStream errors = System.err;
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    @BeforeEach
    void captureLog() {
        System.setErr(new PrintStream(log, true, UTF_8)); // slf4j-simple logs to System.err.
    }

    @AfterEach
    void releaseLog() {
        System.setErr(errors);
    }

    @Test
    void shouldReportLeakedObjectsOfACompletionDispatcher() throws Exception {
        leakWithDispatcher(new FakeLibrary(), false);

        assertThat(logAfterCollection(LEAKS)).contains(LEAKS);
    }

    @Test
    void shouldReportLeakedObjectsWithAReceiveInFlight() throws Exception {
        leakWithDispatcher(new FakeLibrary(), true);

        assertThat(logAfterCollection(LEAKS)).contains(LEAKS);
    }

    @Test
    void shouldReportLeakedObjectsOfACompletionQueue() throws Exception {
        leakWithCompletionQueue(new FakeLibrary());

        assertThat(logAfterCollection(LEAKS)).contains(LEAKS);
    }

    @Test
    void shouldKeepLeakedMemoryRegistered() throws Exception {
        var buffer = new WeakReference<>(leakMemory(new FakeLibrary()));

        assertThat(logAfterCollection(List.of("device fake0 was never closed", "memory region")))
                .contains("device fake0 was never closed", "memory region");
        for (var i = 0; i < 3; i++) {
            System.gc();
        }

        assertThat(buffer.get()).isNotNull();
    }

    @Test
    void shouldNotReportRegionsOfAnOpenArena() throws Exception {
        var library = new FakeLibrary();
        try (var device = Verbs.from(library).open(FakeLibrary.DEVICE);
                var arena = device.newProtectionDomain().newArena(Access.LOCAL_WRITE)) {
            for (var i = 0; i < 100; i++) {
                arena.region(64).close();
                arena.region(64);
            }
            leakDomain(device);

            assertThat(logAfterCollection(List.of("protection domain")))
                    .contains("protection domain")
                    .doesNotContain("memory region");
        }
        assertThat(Collections.frequency(library.calls, "ibv_dereg_mr")).isEqualTo(200);
    }

    /** Leaks a protection domain. If its report is in the log, the garbage collector has run. */
    private static void leakDomain(Device device) throws Exception {
        assertThat(device.newProtectionDomain().isOpen()).isTrue();
    }

    private static ByteBuffer leakMemory(FakeLibrary library) throws Exception {
        var device = Verbs.from(library).open(FakeLibrary.DEVICE);
        var buffer = ByteBuffer.allocateDirect(64);
        var memory = device.newProtectionDomain().register(buffer, Access.LOCAL_WRITE);
        assertThat(memory.isOpen()).isTrue();
        return buffer;
    }

    private static void leakWithDispatcher(FakeLibrary library, boolean withReceive)
            throws Exception {
        var device = Verbs.from(library).open(FakeLibrary.DEVICE);
        var domain = device.newProtectionDomain();
        var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        var queuePair =
                domain.newQueuePair(QueuePairOptions.reliable(device.newCompletionDispatcher(64)));
        queuePair.connect(queuePair.endpoint());
        if (withReceive) {
            assertThat(queuePair.receive(memory.slice()).isCompleted()).isFalse();
        }
    }

    private static void leakWithCompletionQueue(FakeLibrary library) throws Exception {
        var device = Verbs.from(library).open(FakeLibrary.DEVICE);
        var domain = device.newProtectionDomain();
        var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        var queue = device.newCompletionQueue(CompletionQueueOptions.capacity(64).waitable());
        var queuePair = domain.newReliableQueuePair(queue);
        queuePair.connect(queuePair.endpoint());
        assertThat(memory.isOpen()).isTrue();
    }

    /**
     * Runs the garbage collector until the log contains all expected messages, at most 100 times.
     * Returns the log.
     */
    private String logAfterCollection(List<String> expected) throws InterruptedException {
        for (var i = 0; i < 100; i++) {
            System.gc();
            Thread.sleep(10); // Gives the thread of the cleaner time to run.
            if (expected.stream().allMatch(log.toString(UTF_8)::contains)) {
                break;
            }
        }
        return log.toString(UTF_8);
    }
}
