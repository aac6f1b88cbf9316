package org.jrdma.examples.sisci;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.jrdma.sisci.DmaTransfer;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.SegmentOptions;

/**
 * Bytes that move without the CPU: an engine pushes a segment of this node into one of another, and
 * pulls it back.
 */
public final class TransferByDma {

    private static final String USAGE =
            """
            usage: dma-transfer [options]         offers a segment, and looks at what comes
                   dma-transfer [options] NODE    pushes bytes into that node's segment, and pulls them back
            """
                    + SisciOptions.USAGE;

    private static final int SEGMENT = 4004;
    private static final int SOURCE = 4005;
    private static final long BYTES = 1 << 20;

    // Behind the bytes: whether they are there.
    private static final long ARRIVED = BYTES;
    private static final long SEGMENT_BYTES = BYTES + 4096;

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            var options = SisciOptions.parse(arguments);
            try (var node = options.openNode()) {
                if (options.waits()) {
                    offer(node);
                } else {
                    push(node, options.peer());
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private static void offer(Node node) throws IOException {
        try (var segment = node.newSegment(SEGMENT, SEGMENT_BYTES);
                var memory = segment.map()) {
            segment.offer();
            SisciOptions.sayWhereItWaits(node);
            SisciOptions.spinUntil(() -> memory.getLongAcquire(ARRIVED) != 0);
            for (var offset = 0L; offset < BYTES; offset += Long.BYTES) {
                if (memory.getLong(offset) != offset) {
                    throw new IOException(String.format(Locale.ROOT, "Byte %,d is wrong.", offset));
                }
            }
            IO.println(String.format(Locale.ROOT, "%,d bytes are right", BYTES));
        }
    }

    private static void push(Node node, int peer) throws IOException {
        // Nobody connects to this one: the engine needs it prepared, no more.
        var source = SegmentOptions.withFreeId(SOURCE, BYTES).forThisSideOnly();
        try (var local = node.newSegment(source);
                var bytes = local.map();
                var remote = node.connect(peer, SEGMENT, SisciOptions.patience("node " + peer));
                var memory = remote.map();
                var queue = node.newDmaQueue(1)) {
            local.prepare();
            for (var offset = 0L; offset < BYTES; offset += Long.BYTES) {
                bytes.putLong(offset, offset);
            }
            var start = System.nanoTime();
            queue.transfer(DmaTransfer.push(local, 0, remote, 0, BYTES), SisciOptions.PATIENCE);
            IO.println(
                    String.format(
                            Locale.ROOT,
                            "pushed %,d bytes in %,d us",
                            BYTES,
                            (System.nanoTime() - start) / 1_000));

            bytes.segment().fill((byte) 0);
            queue.transfer(DmaTransfer.pull(local, 0, remote, 0, BYTES), SisciOptions.PATIENCE);
            IO.println(
                    bytes.getLong(BYTES - Long.BYTES) == BYTES - Long.BYTES
                            ? "pulled them back"
                            : "pulled something else back");

            memory.putLongRelease(ARRIVED, 1);
            memory.flush();
        }
    }
}
