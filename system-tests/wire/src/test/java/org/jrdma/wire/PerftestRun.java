package org.jrdma.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Arrays;
import java.util.List;
import org.jrdma.processes.Program;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.wire.PerftestDialogue.Keys;

/** A run of a program, with the state of this side. */
final class PerftestRun {

    private static final VarHandle BYTE = JAVA_BYTE.varHandle();

    /** The size of the target in most runs. */
    static final int TARGET_BYTES = 65_536;

    private static final int GUARD = 4096;
    private static final byte UNTOUCHED = 0x5a;

    /**
     * The offset and the size of the memory that the peer may write. In C, it is half of a buffer.
     */
    private final int target;

    private final QueuePairFixture side;
    private final PerftestDialogue dialogue;
    private final boolean isClient;
    private final int bytes;
    private final Mtu mtu;
    private final Keys localKeys;
    private final Keys peerKeys;

    PerftestRun(
            QueuePairFixture side,
            PerftestDialogue dialogue,
            boolean isClient,
            int bytes,
            int target,
            Mtu mtu,
            int reads)
            throws IOException {
        this.target = target;
        this.side = side;
        this.dialogue = dialogue;
        this.isClient = isClient;
        this.bytes = bytes;
        this.mtu = dialogue.begin(mtu);
        side.memory().segment().fill(UNTOUCHED);
        localKeys = new Keys(reads, side.endpoint(), side.memory().remote().slice(target, target));
        peerKeys = dialogue.exchangeKeys(localKeys);
    }

    static int bytesNeeded(int target) {
        return 2 * target + GUARD;
    }

    QueuePairFixture side() {
        return side;
    }

    PerftestDialogue dialogue() {
        return dialogue;
    }

    boolean isClient() {
        return isClient;
    }

    void connect() throws IOException {
        side.connect(peerKeys.endpoint(), mtu, Math.max(1, peerKeys.reads()), localKeys.reads());
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
        return side.memory().slice(target, bytes);
    }

    MemorySegment target() {
        return side.memory().segment().asSlice(target, target);
    }

    MemorySegment untouched() {
        var untouched = new byte[target];
        Arrays.fill(untouched, UNTOUCHED);
        return MemorySegment.ofArray(untouched);
    }

    /** Asserts that nothing was written after the target. */
    void assertThatTheRestIsUntouched() {
        var guard = side.memory().segment().asSlice(2L * target, GUARD);
        assertThat(guard.mismatch(untouched().asSlice(0, GUARD))).isEqualTo(-1);
    }

    /**
     * Polls the target until {@code value} has arrived at an offset, and returns the number of
     * requests that have completed in the meantime.
     */
    int awaitByte(long offset, byte value) throws IOException {
        var completed = 0;
        var deadline = System.nanoTime() + 30_000_000_000L;
        while ((byte) BYTE.getVolatile(side.memory().segment(), target + offset) != value) {
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

    static ServerSocket listen() throws IOException {
        var listener = new ServerSocket();
        listener.bind(new InetSocketAddress(PerftestDialogue.PORT));
        return listener;
    }

    static Program start(List<String> command) throws IOException {
        return Program.start(VethLinkToKernel.atKernel(command.toArray(String[]::new)));
    }

    static void serve(PerftestTool tool, Family family, Mtu mtu, int reads, List<String> more)
            throws Exception {
        VethLinkToKernel.pathMtu(mtu);
        var options = tool.options(family, mtu, more);
        options.add(Family.IPV4.software()); // perftest always uses IPv4 for its TCP connection.
        try (var side = QueuePairFixture.software(family, bytesNeeded(TARGET_BYTES));
                var listener = listen();
                var client = start(options);
                var dialogue = PerftestDialogue.withClient(listener)) {
            var run = new PerftestRun(side, dialogue, false, tool.bytes, TARGET_BYTES, mtu, reads);
            execute(tool, run, client);
            assertThatItHasReported(client, tool);
        }
    }

    static void call(PerftestTool tool, Family family, Mtu mtu, int reads, List<String> more)
            throws Exception {
        VethLinkToKernel.pathMtu(mtu);
        var options = tool.options(family, mtu, more);
        try (var server = start(options)) {
            server.awaitListening(PerftestDialogue.PORT);
            try (var side = QueuePairFixture.software(family, bytesNeeded(TARGET_BYTES));
                    var dialogue = PerftestDialogue.withServer(Family.IPV4.kernel())) {
                var run =
                        new PerftestRun(side, dialogue, true, tool.bytes, TARGET_BYTES, mtu, reads);
                execute(tool, run, server);
                assertThatItHasReported(server, tool);
            }
        }
    }

    static void execute(PerftestTool tool, PerftestRun run, Program program) throws Exception {
        try {
            tool.execute(run);
            assertThat(program.await()).isZero();
            assertThat(program.output()).doesNotContain("Failed to", "Couldn't");
        } catch (IOException | AssertionError e) {
            throw new AssertionError(
                    "%s: %s%n%s".formatted(program, program.output(), run.side.trace()), e);
        }
        run.assertThatTheRestIsUntouched();
    }

    private static void assertThatItHasReported(Program program, PerftestTool tool)
            throws IOException {
        assertThat(program.output())
                // The values are "inf" if the processor is too busy to measure its frequency.
                .containsPattern("(?m)^ %d +%d +\\S".formatted(tool.bytes, tool.iterations));
    }
}
