package org.jrdma.volume.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Access;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.FrameHeader.Kind;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the data of a read by unreliable datagrams to the {@link DatagramReceiver} of the peer. It
 * sends only datagrams that the peer expects, so that it does not overrun the receive queue. Safe
 * for use by multiple threads.
 */
final class DatagramSender {

    /** The depth of the send queue. */
    static final int SENDS = 64;

    private static final Logger LOG = LoggerFactory.getLogger(DatagramSender.class);

    private final AsyncDatagramQueuePair queuePair;
    private final Destination destination;
    private final MemoryRegion headers;
    private final int datagramBytes;
    private final long firstTransfer;
    private final Duration timeout;
    private final Semaphore idle = new Semaphore(1);
    private @Nullable Exchange current;
    private boolean isClosed;

    /** The wait for the answer of the peer to the datagrams of a call. */
    private record Exchange(long call, CompletableFuture<Frame> answer) {}

    /** Sends a frame over the connection. */
    @FunctionalInterface
    interface FrameOutput {
        void send(Frame frame) throws IOException;
    }

    /**
     * @param timeout the time in which the peer answers
     */
    DatagramSender(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            int port,
            DatagramOffer peer,
            Duration timeout)
            throws FabricException {
        this.queuePair =
                domain.newQueuePair(
                        QueuePairOptions.datagrams(completions)
                                .port(port)
                                .sends(SENDS)
                                .sendElements(2)
                                .receives(1));
        queuePair.activate(new SecureRandom().nextInt() & Integer.MAX_VALUE);
        this.destination =
                new Destination(
                        domain.newAddressHandle(queuePair.addressOf(peer.endpoint())),
                        peer.endpoint().queuePairNumber(),
                        peer.queueKey());
        this.headers =
                domain.newArena(Access.LOCAL_WRITE)
                        .region((long) DatagramReceiver.WINDOW * DatagramHeader.BYTES);
        this.datagramBytes =
                Math.min(peer.maxDatagramBytes(), queuePair.maxMessageBytes())
                        - DatagramHeader.BYTES;
        this.firstTransfer = peer.firstTransfer();
        this.timeout = timeout;
    }

    int maxDatagramBytes() {
        return queuePair.maxMessageBytes();
    }

    /**
     * Sends the data of a read.
     *
     * @param count the number of datagrams that the peer expects first
     * @return true if everything arrived; false if the peer expects no datagrams, but RDMA WRITE
     */
    boolean send(long call, int count, MemorySlice data, FrameOutput frames) throws IOException {
        if (!idle.tryAcquire()) {
            throw new ProtocolException("the peer expects datagrams for two calls at once");
        }
        try {
            return send(call, IntStream.range(0, count).toArray(), data, frames);
        } finally {
            idle.release();
        }
    }

    private boolean send(long call, int[] first, MemorySlice data, FrameOutput frames)
            throws IOException {
        var layout = new DatagramLayout(data.length(), datagramBytes);
        var rounds =
                Math.ceilDiv(layout.count(), DatagramReceiver.WINDOW)
                        + DatagramReceiver.MAX_LOSSY_WINDOWS;
        var indexes = first;
        while (indexes.length > 0) {
            if (rounds-- == 0) {
                throw new ProtocolException("the peer expects datagrams again too often");
            }
            check(indexes, layout);
            sendAll(call, indexes, layout, data);
            var answer = exchange(call, frames);
            if (answer.header().kind() == Kind.ARRIVED) {
                return true;
            }
            var payload = answer.payload().asIntBuffer();
            indexes = new int[payload.remaining()];
            payload.get(indexes);
        }
        return false;
    }

    private static void check(int[] indexes, DatagramLayout layout) throws ProtocolException {
        if (indexes.length > DatagramReceiver.WINDOW
                || IntStream.of(indexes).anyMatch(index -> index < 0 || index >= layout.count())) {
            throw new ProtocolException("the peer expects datagrams that do not exist");
        }
    }

    /**
     * Sends datagrams. Returns with no posted send: a failure closes the queue pair, which retracts
     * the sends. These datagrams and all later ones are lost.
     */
    private void sendAll(long call, int[] indexes, DatagramLayout layout, MemorySlice data) {
        var isSent = false;
        try {
            @Nullable Transfer last = null;
            for (var slot = 0; slot < indexes.length; slot++) {
                var index = indexes[slot];
                var header =
                        headers.slice((long) slot * DatagramHeader.BYTES, DatagramHeader.BYTES);
                new DatagramHeader(firstTransfer + call, index, layout.length(index))
                        .encode(header.segment());
                last =
                        queuePair.send(
                                List.of(
                                        header,
                                        data.slice(layout.offset(index), layout.length(index))),
                                destination);
            }
            if (last != null) {
                last.await(timeout); // requests of a send queue complete in order
            }
            isSent = true;
        } catch (IOException | RuntimeException e) {
            LOG.debug("{} cannot send: {}", queuePair, e.getMessage());
        } finally {
            if (!isSent) {
                queuePair.close();
            }
        }
    }

    /** Reports that the datagrams were sent, and waits for the answer. */
    private Frame exchange(long call, FrameOutput frames) throws IOException {
        var exchange = new Exchange(call, new CompletableFuture<>());
        synchronized (this) {
            if (isClosed) {
                throw new VolumeException("the connection has ended");
            }
            current = exchange;
        }
        try {
            frames.send(new Frame(FrameHeader.of(Kind.SENT, call, 0), ByteBuffer.allocate(0)));
            return exchange.answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException e) {
            // Without the answer, the receives may still be posted, so nothing may be written.
            throw new VolumeException("the peer did not report which datagrams arrived", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VolumeException("interrupted while waiting for the peer", e);
        }
    }

    /** Handles an answer of the peer. Ignores an answer that no call waits for. */
    synchronized void answered(Frame frame) {
        if (current != null && current.call == frame.header().call()) {
            current.answer.complete(frame);
        }
    }

    /** Ends the current read and rejects further ones. */
    synchronized void shutdown() {
        isClosed = true;
        if (current != null) {
            current.answer.completeExceptionally(new VolumeException("the connection has ended"));
        }
    }
}
