package org.jrdma.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jrdma.processes.Program;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.wire.PerftestDialogue.Keys;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests unmodified programs of perftest on rxe1. Java code in this class is the other side, on the
 * software fabric.
 */
class PerftestTest {

    private static final int READS = 16;
    private static final byte UNTOUCHED = 0x5a;

    /** A program of perftest, and the Java code that acts as its peer. */
    enum Tool {
        WRITE_BANDWIDTH("ib_write_bw", 65_536, 200) {
            @Override
            void execute(Run run) throws IOException {
                run.connect();
                run.synchronize();
                if (run.isClient) {
                    var request = run.side.queuePair().prepareWrite(run.local(), run.remote());
                    run.side.postAll(request, iterations);
                }
                run.synchronize();
                if (!run.isClient) {
                    assertThat(run.target().mismatch(run.untouched())).isNotNegative();
                }
                run.dialogue.report(bytes, iterations);
                run.end();
            }
        },
        READ_BANDWIDTH("ib_read_bw", 65_536, 200) {
            @Override
            void execute(Run run) throws IOException {
                run.connect();
                run.synchronize();
                if (run.isClient) {
                    var request = run.side.queuePair().prepareRead(run.local(), run.remote());
                    run.side.postAll(request, iterations);
                }
                run.synchronize();
                run.dialogue.report(bytes, iterations);
                run.end();
            }
        },
        ATOMIC_BANDWIDTH("ib_atomic_bw", 8, 1000) {
            @Override
            void execute(Run run) throws IOException {
                run.target().fill((byte) 0);
                run.connect();
                run.synchronize();
                if (run.isClient) {
                    addSequentially(run);
                }
                run.synchronize();
                if (!run.isClient) {
                    // Each iteration of the program adds 1 to one of the words in the target.
                    var sum = run.target().elements(JAVA_LONG).mapToLong(Tool::valueOf).sum();
                    assertThat(sum).isEqualTo(iterations);
                }
                run.dialogue.report(bytes, iterations);
                run.end();
            }

            private void addSequentially(Run run) throws IOException {
                var request =
                        run.side.queuePair().prepareFetchAndAdd(run.local(), run.remote()).delta(1);
                run.side.postAll(request, 1);
                var former = valueOf(run.local().segment());
                run.side.postAll(request, iterations - 1);
                assertThat(valueOf(run.local().segment())).isEqualTo(former + iterations - 1);
            }
        },
        SEND_BANDWIDTH("ib_send_bw", 65_536, 200) {
            @Override
            void execute(Run run) throws IOException {
                run.connect();
                run.synchronize();
                if (run.isClient) {
                    run.synchronize();
                    var request = run.side.queuePair().prepareSend(run.local());
                    run.side.postAll(request, iterations);
                } else {
                    receive(run);
                }
                run.end();
            }

            private void receive(Run run) throws IOException {
                var receive = run.side.queuePair().prepareReceive(run.targetSlice());
                while (receive.tryPost()) {
                    // The loop fills the receive queue.
                }
                run.synchronize();
                for (var received = 0; received < iterations; ) {
                    run.side.awaitAny();
                    while (run.side.cursor().next()) {
                        run.side.check();
                        assertThat(run.side.cursor().kind()).isEqualTo(CompletionKind.RECEIVE);
                        assertThat(run.side.cursor().bytes()).isEqualTo(bytes);
                        received++;
                    }
                    receive.tryPost();
                }
                assertThat(run.target().mismatch(run.untouched())).isNotNegative();
            }
        },
        WRITE_LATENCY("ib_write_lat", 2, 1000) {
            @Override
            void execute(Run run) throws IOException {
                run.synchronize();
                run.connect();
                run.synchronize();
                var request = run.side.queuePair().prepareWrite(run.local(), run.remote());
                var source = run.local().segment();
                var offset = bytes - 1L;
                var completed = 0;
                for (var i = 1; i <= iterations; i++) {
                    if (run.isClient) { // The server starts.
                        completed += run.awaitByte(offset, (byte) i);
                    }
                    source.set(JAVA_BYTE, offset, (byte) i);
                    run.side.post(request);
                    if (!run.isClient) {
                        completed += run.awaitByte(offset, (byte) i);
                    }
                }
                run.side.awaitCompletions(iterations - completed);
            }
        };

        final String command;
        final int bytes;
        final int iterations;

        Tool(String command, int bytes, int iterations) {
            this.command = command;
            this.bytes = bytes;
            this.iterations = iterations;
        }

        /** Runs the protocol from the exchange of keys to the end. */
        abstract void execute(Run run) throws IOException;

        static long valueOf(MemorySegment segment) {
            return segment.get(JAVA_LONG, 0);
        }

        /** Returns the command line of a program. Both sides must use the same values. */
        List<String> options(Family family, Mtu mtu, List<String> more) {
            var options =
                    new ArrayList<>(
                            List.of(
                                    command,
                                    "-d",
                                    VethLinkToKernel.KERNEL_DEVICE,
                                    "-x",
                                    String.valueOf(family.kernelGid()),
                                    "-m",
                                    String.valueOf(mtu.bytes()),
                                    "-n",
                                    String.valueOf(iterations),
                                    "-F"));
            options.addAll(more);
            return options;
        }
    }

    /** A run of a program, with the state of this side. */
    static final class Run {

        private static final VarHandle BYTE = JAVA_BYTE.varHandle();

        /**
         * The offset and the size of the memory that the peer may write. In C, it is half of a
         * buffer.
         */
        private static final int TARGET = 65_536;

        private static final int GUARD = 4096;

        private final QueuePairFixture side;
        private final PerftestDialogue dialogue;
        private final boolean isClient;
        private final int bytes;
        private final Mtu mtu;
        private final Keys localKeys;
        private final Keys peerKeys;

        Run(
                QueuePairFixture side,
                PerftestDialogue dialogue,
                boolean isClient,
                int bytes,
                Mtu mtu,
                int reads)
                throws IOException {
            this.side = side;
            this.dialogue = dialogue;
            this.isClient = isClient;
            this.bytes = bytes;
            this.mtu = dialogue.begin(mtu);
            side.memory().segment().fill(UNTOUCHED);
            localKeys =
                    new Keys(reads, side.endpoint(), side.memory().remote().slice(TARGET, TARGET));
            peerKeys = dialogue.exchangeKeys(localKeys);
        }

        static int bytesNeeded() {
            return 2 * TARGET + GUARD;
        }

        void connect() throws IOException {
            side.connect(
                    peerKeys.endpoint(), mtu, Math.max(1, peerKeys.reads()), localKeys.reads());
            dialogue.synchronize(localKeys);
        }

        void synchronize() throws IOException {
            dialogue.synchronize(localKeys);
        }

        void end() throws IOException {
            dialogue.end(localKeys);
        }

        MemorySlice local() {
            return side.memory().slice(0, bytes);
        }

        RemoteMemory remote() {
            return new RemoteMemory(peerKeys.memory().address(), peerKeys.memory().key(), bytes);
        }

        MemorySlice targetSlice() {
            return side.memory().slice(TARGET, bytes);
        }

        MemorySegment target() {
            return side.memory().segment().asSlice(TARGET, TARGET);
        }

        MemorySegment untouched() {
            var untouched = new byte[TARGET];
            Arrays.fill(untouched, UNTOUCHED);
            return MemorySegment.ofArray(untouched);
        }

        /** Asserts that nothing was written after the target. */
        void assertThatTheRestIsUntouched() {
            var guard = side.memory().segment().asSlice(2L * TARGET, GUARD);
            assertThat(guard.mismatch(untouched().asSlice(0, GUARD))).isEqualTo(-1);
        }

        /**
         * Polls the target until {@code value} has arrived at an offset, and returns the number of
         * requests that have completed in the meantime.
         */
        int awaitByte(long offset, byte value) throws IOException {
            var completed = 0;
            var deadline = System.nanoTime() + 30_000_000_000L;
            while ((byte) BYTE.getVolatile(side.memory().segment(), TARGET + offset) != value) {
                side.cursor().poll();
                while (side.cursor().next()) {
                    side.check();
                    completed++;
                }
                if (System.nanoTime() - deadline > 0) {
                    throw new IOException("No data arrived.\n" + side.trace());
                }
            }
            return completed;
        }
    }

    static Stream<Arguments> allCombinations() {
        return Stream.of(Tool.values())
                .flatMap(tool ->
                        Stream.of(Family.values())
                                .flatMap(family ->
                                        Stream.of(Mtu.BYTES_1024, Mtu.BYTES_4096)
                                                .map(mtu -> Arguments.of(tool, family, mtu))));
    }

    @ParameterizedTest
    @MethodSource("allCombinations")
    void shouldRunAsServer(Tool tool, Family family, Mtu mtu) throws Exception {
        serve(tool, family, mtu, READS, List.of());
    }

    @ParameterizedTest
    @MethodSource("allCombinations")
    void shouldRunAsClient(Tool tool, Family family, Mtu mtu) throws Exception {
        call(tool, family, mtu, READS, List.of());
    }

    @ParameterizedTest
    @CsvSource({"READ_BANDWIDTH", "ATOMIC_BANDWIDTH"})
    void shouldSendReadsOneAtATimeIfThePeerAcceptsOnlyOne(Tool tool) throws Exception {
        call(tool, Family.IPV4, Mtu.BYTES_1024, READS, List.of("-o", "1"));
    }

    @ParameterizedTest
    @CsvSource({"READ_BANDWIDTH", "ATOMIC_BANDWIDTH"})
    void shouldAcceptReadsOneAtATime(Tool tool) throws Exception {
        serve(tool, Family.IPV4, Mtu.BYTES_1024, 1, List.of());
    }

    @ParameterizedTest
    @CsvSource({
        "WRITE_BANDWIDTH, loss 1%",
        "WRITE_BANDWIDTH, delay 200us reorder 25% 50%",
        "READ_BANDWIDTH, loss 1%",
        "ATOMIC_BANDWIDTH, loss 1%",
        "SEND_BANDWIDTH, loss 1%",
        "SEND_BANDWIDTH, delay 200us reorder 25% 50%",
    })
    void shouldRunAsServerOnAFaultyWire(Tool tool, String faults) throws Exception {
        withFaults(faults, () -> serve(tool, Family.IPV4, Mtu.BYTES_4096, READS, List.of()));
    }

    @ParameterizedTest
    @CsvSource({
        "WRITE_BANDWIDTH, loss 1%",
        "WRITE_BANDWIDTH, delay 200us reorder 25% 50%",
        "READ_BANDWIDTH, loss 1%",
        "READ_BANDWIDTH, delay 200us reorder 25% 50%",
        "ATOMIC_BANDWIDTH, loss 1%",
        "ATOMIC_BANDWIDTH, delay 200us reorder 25% 50%",
        "SEND_BANDWIDTH, loss 1%",
        "SEND_BANDWIDTH, delay 200us reorder 25% 50%",
    })
    void shouldRunAsClientOnAFaultyWire(Tool tool, String faults) throws Exception {
        withFaults(faults, () -> call(tool, Family.IPV4, Mtu.BYTES_4096, READS, List.of()));
    }

    private interface Action {
        void run() throws Exception;
    }

    private static void withFaults(String faults, Action action) throws Exception {
        VethLinkToKernel.faults("wire0", faults);
        VethLinkToKernel.faults("wire1", faults);
        try {
            action.run();
        } finally {
            VethLinkToKernel.removeFaults();
        }
    }

    private static void serve(Tool tool, Family family, Mtu mtu, int reads, List<String> more)
            throws Exception {
        VethLinkToKernel.pathMtu(mtu);
        var options = tool.options(family, mtu, more);
        options.add(Family.IPV4.software()); // perftest always uses IPv4 for its TCP connection.
        try (var side = QueuePairFixture.software(family, Run.bytesNeeded());
                var listener = new ServerSocket()) {
            listener.bind(new InetSocketAddress(PerftestDialogue.PORT));
            try (var client =
                            Program.start(
                                    VethLinkToKernel.atKernel(options.toArray(String[]::new)));
                    var dialogue = PerftestDialogue.withClient(listener)) {
                execute(tool, new Run(side, dialogue, false, tool.bytes, mtu, reads), client);
            }
        }
    }

    private static void call(Tool tool, Family family, Mtu mtu, int reads, List<String> more)
            throws Exception {
        VethLinkToKernel.pathMtu(mtu);
        var options = tool.options(family, mtu, more);
        try (var server =
                Program.start(VethLinkToKernel.atKernel(options.toArray(String[]::new)))) {
            server.awaitListening(PerftestDialogue.PORT);
            try (var side = QueuePairFixture.software(family, Run.bytesNeeded());
                    var dialogue = PerftestDialogue.withServer(Family.IPV4.kernel())) {
                execute(tool, new Run(side, dialogue, true, tool.bytes, mtu, reads), server);
            }
        }
    }

    private static void execute(Tool tool, Run run, Program program) throws Exception {
        try {
            tool.execute(run);
            assertThat(program.await()).isZero();
            assertThat(program.output()).doesNotContain("Failed to", "Couldn't");
        } catch (IOException | AssertionError e) {
            throw new AssertionError(
                    "%s: %s%n%s".formatted(program, program.output(), run.side.trace()), e);
        }
        assertThat(program.output())
                // The values are "inf" if the processor is too busy to measure its frequency.
                .containsPattern("(?m)^ %d +%d +\\S".formatted(tool.bytes, tool.iterations));
        run.assertThatTheRestIsUntouched();
    }
}
