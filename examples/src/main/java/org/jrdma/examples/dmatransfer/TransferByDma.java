package org.jrdma.examples.dmatransfer;

import module org.jrdma.sisci;

import java.io.IOException;
import org.jrdma.examples.AbstractExample;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * A transfer without the processor: a DMA engine pushes a segment of this node into a segment of
 * another node, and pulls it back.
 *
 * <pre>
 * ./jrdma example dma-transfer         # prints the id of its node
 * ./jrdma example dma-transfer 4       # on another node: pushes to node 4
 * </pre>
 */
@Command(
        name = "dma-transfer",
        description = "A DMA engine copies memory to a node and back (SISCI)")
public final class TransferByDma extends AbstractExample {

    private static final int SEGMENT = 4004;
    private static final int SOURCE = 4005;

    // The layout of the segment: the bytes, and a number that is 0 until the bytes have arrived.
    private static final long BYTES = 1 << 20;
    private static final long ARRIVED = BYTES;
    private static final long SEGMENT_BYTES = BYTES + 4096;

    @Parameters(arity = "0..1", paramLabel = "NODE", description = "the node to push to")
    private Integer peer;

    static void main(String... arguments) {
        new TransferByDma().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        try (var node = sisci().open()) {
            if (peer == null) {
                export(node);
            } else {
                push(node);
            }
        }
    }

    private static void export(Node node) throws IOException {
        try (var segment = node.newSegment(SEGMENT, SEGMENT_BYTES);
                var memory = segment.map()) {
            segment.offer();
            IO.println("waiting on node %d, until %s".formatted(node.id(), deadline()));
            spinUntil(() -> memory.getLongAcquire(ARRIVED) != 0);
            for (var offset = 0L; offset < BYTES; offset += Long.BYTES) {
                if (memory.getLong(offset) != offset) {
                    throw new IOException("Byte %,d is wrong.".formatted(offset));
                }
            }
            IO.println("%,d bytes are right".formatted(BYTES));
        }
    }

    private void push(Node node) throws IOException {
        IO.println("connecting to node %d, until %s".formatted(peer, deadline()));
        // No other node connects to the source, so it is prepared for the engine, but not offered.
        var source = SegmentOptions.withFreeId(SOURCE, BYTES).asPrivate();
        try (var local = node.newSegment(source);
                var bytes = local.map();
                var remote = node.connect(peer, SEGMENT, TIMEOUT);
                var memory = remote.map();
                var queue = node.newDmaQueue(1)) {
            local.prepare();
            for (var offset = 0L; offset < BYTES; offset += Long.BYTES) {
                bytes.putLong(offset, offset);
            }
            var start = System.nanoTime();
            queue.transfer(DmaTransferRequest.push(local, 0, remote, 0, BYTES), TIMEOUT);
            var micros = (System.nanoTime() - start) / 1_000;
            IO.println("pushed %,d bytes in %,d us".formatted(BYTES, micros));

            bytes.segment().fill((byte) 0);
            queue.transfer(DmaTransferRequest.pull(local, 0, remote, 0, BYTES), TIMEOUT);
            var last = BYTES - Long.BYTES;
            if (bytes.getLong(last) != last) {
                throw new IOException("The bytes that were pulled back are wrong.");
            }
            IO.println("pulled them back");

            memory.putLongRelease(ARRIVED, 1);
            memory.flush();
        }
    }
}
