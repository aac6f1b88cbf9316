package org.jrdma.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.DmaQueue;
import org.jrdma.sisci.DmaTransferRequest;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.Sequence;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.model.DmaState;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;

/**
 * Compares SISCI on the software fabric with plain memory. The other node is a second process,
 * which answers the ping-pongs. Each result is the median of many short turns. SISCI and its
 * baseline take turns alternately.
 */
public final class SoftSisciMemoryComparison {

    private static final int FIRST_NODE = 4;
    private static final int SECOND_NODE = 8;
    private static final int SEGMENT = 1;
    private static final int LARGE_BYTES = 1 << 20;
    private static final int SMALL_BYTES = 64;
    private static final int TURNS = 200;
    private static final int WARM_UP_TURNS = 400;
    private static final int ROUNDS = 100;
    private static final long COUNTERS = 4096;
    private static final int[] DMA_BYTES = {8, 4096, 32768};
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    // Offsets in each segment and in the file. Each offset is in a separate cache line.
    private static final int PING = 0;
    private static final int PEER_READY = 128;
    private static final int PONG = 256;

    private static final VarHandle WORD = JAVA_LONG.varHandle();
    private static final ThreadMXBean THREAD = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private SoftSisciMemoryComparison() {}

    /** Prints a table. With a folder as an argument, runs as the second process. */
    public static void main(String... arguments) throws Exception {
        if (arguments.length > 0) {
            answer(Path.of(arguments[0]));
            return;
        }
        var folder = Files.createTempDirectory(Path.of("/dev/shm"), "sisci-benchmark");
        var child = ChildProcess.start(SoftSisciMemoryComparison.class, folder);
        try {
            compare(folder);
            child.getOutputStream().close();
            child.waitFor();
        } finally {
            child.destroyForcibly().waitFor();
            Files.deleteIfExists(file(folder));
            Files.delete(folder);
        }
    }

    private static Path file(Path folder) {
        return folder.resolve("bare");
    }

    private static Node join(Path folder, int node) throws IOException {
        return Sisci.from(new SoftSisci(SoftSisciOptions.in(folder).node(node))).open();
    }

    private static MemorySegment bareFile(Path folder, Arena arena) throws IOException {
        try (var channel =
                FileChannel.open(
                        file(folder),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            return channel.map(MapMode.READ_WRITE, 0, COUNTERS, arena);
        }
    }

    private static void compare(Path folder) throws IOException {
        try (var arena = Arena.ofShared();
                var node = join(folder, FIRST_NODE);
                var segment = node.newSegment(SEGMENT, 2 * LARGE_BYTES);
                var own = segment.map()) {
            var bare = bareFile(folder, arena);
            segment.offer();
            try (var remote = node.connect(SECOND_NODE, SEGMENT, TIMEOUT);
                    var map = remote.map();
                    var sequence = map.newSequence();
                    var queue = node.newDmaQueue(1)) {
                await(own.segment(), PEER_READY, 1);
                var source = arena.allocate(LARGE_BYTES, 4096);
                var small = source.asSlice(0, SMALL_BYTES);
                System.out.println("| operation, ns | SISCI | baseline | ratio | bound | B/op |");
                System.out.println("|---|---|---|---|---|---|");
                compare(
                        "ping-pong between two processes, stored and flushed; in a mapped file",
                        "at most 1.3",
                        ROUNDS,
                        (turn, rounds) -> pingPong(own, map, turn, rounds),
                        (turn, rounds) -> pingPong(bare, turn, rounds));
                compare(
                        "`putLong`; `MemorySegment.set`",
                        "at most 1.1",
                        100_000,
                        (_, rounds) -> put(map, rounds),
                        (_, rounds) -> set(map.segment(), rounds));
                compare(
                        "`write` of 64 bytes under a sequence, one library call; the copy alone",
                        "at most 60 ns more",
                        2_000,
                        (_, rounds) -> write(sequence, small, rounds),
                        (_, rounds) -> copy(small, map.segment(), rounds));
                compare(
                        "`copyFrom` of 1 MiB; `MemorySegment.copy`",
                        "at most 1.11",
                        20,
                        (_, rounds) -> copyFrom(map, source, rounds),
                        (_, rounds) -> copy(source, map.segment(), rounds));
                for (var bytes : DMA_BYTES) {
                    var transfer =
                            DmaTransferRequest.push(segment, COUNTERS, remote, COUNTERS, bytes);
                    var payload = own.segment().asSlice(COUNTERS, bytes);
                    compare(
                            "DMA of %,d bytes, polled; the copy alone".formatted(bytes),
                            "at most 5000 ns more",
                            100,
                            (_, rounds) -> transfer(queue, transfer, rounds),
                            (_, rounds) -> copy(payload, map.segment(), rounds));
                }
            }
        }
    }

    /** An operation that is repeated in a turn. */
    @FunctionalInterface
    private interface Work {
        void run(int turn, int rounds) throws FabricException, IOException;
    }

    private static void compare(String what, String bound, int rounds, Work sisci, Work reference)
            throws IOException {
        var own = new double[TURNS];
        var baseline = new double[TURNS];
        var leastBytes = Long.MAX_VALUE;
        for (var turn = -WARM_UP_TURNS; turn < TURNS; turn++) {
            var bytes = allocatedBytes();
            var nanos = nanosOfOne(sisci, turn, rounds);
            bytes = allocatedBytes() - bytes;
            var baselineNanos = nanosOfOne(reference, turn, rounds);
            if (turn >= 0) {
                own[turn] = nanos;
                baseline[turn] = baselineNanos;
                leastBytes = Math.min(leastBytes, bytes);
            }
        }
        System.out.printf(
                Locale.ROOT,
                "| %s | %,.1f | %,.1f | %.2f | %s | %d |%n",
                what,
                Median.of(own),
                Median.of(baseline),
                Median.of(own) / Median.of(baseline),
                bound,
                leastBytes / rounds);
    }

    private static double nanosOfOne(Work work, int turn, int rounds) throws IOException {
        var start = System.nanoTime();
        work.run(turn, rounds);
        return (double) (System.nanoTime() - start) / rounds;
    }

    private static long allocatedBytes() {
        return THREAD.getCurrentThreadAllocatedBytes();
    }

    private static long firstValue(int turn) {
        return (long) (turn + WARM_UP_TURNS) * ROUNDS;
    }

    private static void pingPong(LocalMap own, RemoteMap remote, int turn, int rounds) {
        for (var value = firstValue(turn) + 1; value <= firstValue(turn) + rounds; value++) {
            remote.putLong(PING, value);
            remote.flush();
            await(own.segment(), PING, value);
        }
    }

    private static void pingPong(MemorySegment file, int turn, int rounds) {
        for (var value = firstValue(turn) + 1; value <= firstValue(turn) + rounds; value++) {
            WORD.setRelease(file, (long) PING, value);
            await(file, PONG, value);
        }
    }

    /** Runs the second process, which answers the ping-pongs in the same turns. */
    private static void answer(Path folder) throws IOException {
        try (var arena = Arena.ofShared();
                var node = join(folder, SECOND_NODE);
                var segment = node.newSegment(SEGMENT, 2 * LARGE_BYTES);
                var own = segment.map()) {
            var bare = bareFile(folder, arena);
            segment.offer();
            try (var remote = node.connect(FIRST_NODE, SEGMENT, TIMEOUT);
                    var map = remote.map()) {
                map.putLongRelease(PEER_READY, 1);
                map.flush();
                for (var turn = -WARM_UP_TURNS; turn < TURNS; turn++) {
                    respond(own, map, turn);
                    respond(bare, turn);
                }
            }
            // Waits until the first process no longer stores into the segment.
            var _ = System.in.read();
        }
    }

    private static void respond(LocalMap own, RemoteMap remote, int turn) {
        for (var value = firstValue(turn) + 1; value <= firstValue(turn) + ROUNDS; value++) {
            await(own.segment(), PING, value);
            remote.putLong(PING, value);
            remote.flush();
        }
    }

    private static void respond(MemorySegment file, int turn) {
        for (var value = firstValue(turn) + 1; value <= firstValue(turn) + ROUNDS; value++) {
            await(file, PING, value);
            WORD.setRelease(file, (long) PONG, value);
        }
    }

    private static void await(MemorySegment memory, long offset, long value) {
        while ((long) WORD.getAcquire(memory, offset) != value) {
            Thread.onSpinWait();
        }
    }

    private static void put(RemoteMap map, int rounds) {
        for (var round = 0; round < rounds; round++) {
            map.putLong(COUNTERS + (round & 511) * 8L, round);
        }
    }

    private static void set(MemorySegment memory, int rounds) {
        for (var round = 0; round < rounds; round++) {
            memory.set(JAVA_LONG, COUNTERS + (round & 511) * 8L, round);
        }
    }

    private static void write(Sequence sequence, MemorySegment source, int rounds)
            throws IOException {
        for (var round = 0; round < rounds; round++) {
            sequence.write(COUNTERS + (round & 63) * 64L, source, TIMEOUT);
        }
    }

    private static void copyFrom(RemoteMap map, MemorySegment source, int rounds)
            throws FabricException {
        for (var round = 0; round < rounds; round++) {
            map.copyFrom(source, COUNTERS);
        }
    }

    private static void transfer(DmaQueue queue, DmaTransferRequest transfer, int rounds)
            throws FabricException {
        for (var round = 0; round < rounds; round++) {
            queue.post(transfer);
            while (queue.state() == DmaState.POSTED) {
                Thread.onSpinWait();
            }
            if (queue.state() != DmaState.DONE) {
                throw new IllegalStateException("A transfer has the state " + queue.state());
            }
        }
    }

    private static void copy(MemorySegment source, MemorySegment target, int rounds) {
        for (var round = 0; round < rounds; round++) {
            MemorySegment.copy(source, 0, target, COUNTERS, source.byteSize());
        }
    }
}
