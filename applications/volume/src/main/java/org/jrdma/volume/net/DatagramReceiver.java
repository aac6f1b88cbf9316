package org.jrdma.volume.net;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.volume.net.FrameHeader.Kind;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives the data of a read by unreliable datagrams. Each receive request scatters a datagram to
 * memory for its header and to the place in the buffer of the call where the next missing datagram
 * belongs, so that datagrams that arrive in order are not copied.
 *
 * <p>The nodes alternate. This node posts receives for a window of missing datagrams, and names
 * them to the peer. The peer sends them and reports this in a frame. Then this node first retracts
 * the receives that no datagram has consumed, by draining the queue pair in the error state. Only
 * after that, while no receive is posted, it reads the headers, moves data that arrived in the
 * place of another datagram, and releases the buffer or requests RDMA WRITE. So a datagram that is
 * late, repeated, or from a stranger can never change a place whose data has arrived.
 *
 * <p>One read at a time uses datagrams. Safe for use by multiple threads.
 */
final class DatagramReceiver {

    /** The depth of the receive queue, which is the maximum number of datagrams in flight. */
    static final int WINDOW = 512;

    private static final int MIN_DATAGRAMS = 4;

    /** The number of windows with missing datagrams after which a read uses RDMA WRITE. */
    static final int MAX_LOSSY_WINDOWS = 4;

    private static final int HEADER_BYTES = GlobalRouteHeader.BYTES + DatagramHeader.BYTES;
    private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(1);
    private static final Logger LOG = LoggerFactory.getLogger(DatagramReceiver.class);

    private final AsyncDatagramQueuePair queuePair;
    private final DatagramOffer offer;
    private final MemoryRegion headers;

    /** Memory for the last datagram, whose place is shorter than others, and for excess bytes. */
    private final MemoryRegion spare;

    /** The maximum length of the data of a datagram; 0 until the peer has answered. */
    private int datagramBytes;

    private @Nullable Read current;

    /** The number of reads whose data has arrived by datagrams. */
    private volatile int reads;

    /** The reason for which no datagrams are received; null if they are. */
    private volatile @Nullable String failure;

    /** A read in progress. */
    private static final class Read {

        private final long call;
        private final MemorySlice target;
        private final DatagramLayout layout;

        /** The loss map: the indexes of the datagrams that have not arrived. */
        private final BitSet missing = new BitSet();

        /** The receives that may be posted, and the indexes of the datagrams that they expect. */
        private final Transfer[] receives = new Transfer[WINDOW];

        private int[] expected = {};
        private int posted;
        private int lossyWindows;

        Read(long call, MemorySlice target, DatagramLayout layout) {
            this.call = call;
            this.target = target;
            this.layout = layout;
            missing.set(0, layout.count());
        }
    }

    /** Creates the queue pair, which receives nothing before {@link #begin}. */
    DatagramReceiver(ProtectionDomain domain, CompletionDispatcher completions, int port)
            throws FabricException {
        var random = new SecureRandom();
        this.queuePair =
                domain.newQueuePair(
                        QueuePairOptions.datagrams(completions)
                                .port(port)
                                .sends(1)
                                .receives(WINDOW)
                                .receiveElements(3));
        var maxBytes = queuePair.maxMessageBytes();
        this.offer =
                new DatagramOffer(
                        queuePair.endpoint(),
                        random.nextInt() & Integer.MAX_VALUE, // the other half is privileged
                        maxBytes,
                        random.nextLong());
        var arena = domain.newArena(Access.LOCAL_WRITE);
        this.headers = arena.region((long) WINDOW * HEADER_BYTES);
        this.spare = arena.region(2L * maxBytes);
        queuePair.activate(offer.queueKey());
    }

    DatagramOffer offer() {
        return offer;
    }

    /**
     * Starts to use datagrams.
     *
     * @param maxBytes the maximum length of the datagrams that the peer sends; 0 if it sends none
     */
    synchronized void start(int maxBytes) {
        if (maxBytes == 0) {
            fail("the peer does not send them");
        } else {
            datagramBytes = Math.min(maxBytes, offer.maxDatagramBytes()) - DatagramHeader.BYTES;
        }
    }

    /** Returns a description for the state of the connection. */
    String state() {
        return failure == null ? reads + " reads by datagrams" : "no datagrams: " + failure;
    }

    /**
     * Posts receives for a read.
     *
     * @return the number of datagrams that the peer can send; 0 if the read must use RDMA WRITE
     */
    synchronized int begin(long call, MemorySlice target) {
        if (failure != null || current != null || datagramBytes == 0) {
            return 0;
        }
        var layout = new DatagramLayout(target.length(), datagramBytes);
        if (layout.count() < MIN_DATAGRAMS) {
            return 0;
        }
        var read = new Read(call, target, layout);
        current = read; // end() then retracts the receives even if an Error is thrown
        post(read);
        if (read.posted == 0) {
            current = null;
        }
        return read.posted;
    }

    /** Posts receives for the first missing datagrams. Posts none if that fails. */
    private void post(Read read) {
        read.expected = read.missing.stream().limit(WINDOW).toArray();
        try {
            while (read.posted < read.expected.length) {
                read.receives[read.posted] = queuePair.receive(scatter(read, read.posted));
                read.posted++;
            }
        } catch (InterruptedIOException e) {
            retract(read);
        } catch (Throwable e) {
            fail(e.getMessage());
            if (e instanceof Error error) {
                throw error;
            }
        }
        if (read.posted < read.expected.length) {
            read.posted = 0;
        }
    }

    private List<MemorySlice> scatter(Read read, int slot) {
        var header = headers.slice((long) slot * HEADER_BYTES, HEADER_BYTES);
        var excess = offer.maxDatagramBytes() - DatagramHeader.BYTES - datagramBytes;
        return excess == 0
                ? List.of(header, place(read, slot))
                : List.of(header, place(read, slot), spare.slice(offer.maxDatagramBytes(), excess));
    }

    /** Returns the memory in which a receive places data. */
    private MemorySlice place(Read read, int slot) {
        var index = read.expected[slot];
        return read.layout.length(index) < datagramBytes
                ? spare.slice(0, datagramBytes)
                : read.target.slice(read.layout.offset(index), datagramBytes);
    }

    /**
     * Handles a frame with which the peer reports that it has sent the datagrams.
     *
     * @return the answer: everything has arrived, or the indexes of the datagrams that the peer
     *     sends next, or no indexes, so that the peer writes the data
     */
    synchronized Frame sent(long call) throws ProtocolException {
        var read = current;
        if (read == null || read.call != call) {
            throw new ProtocolException("the peer sent datagrams that no call expects");
        }
        retract(read);
        take(read);
        if (read.missing.isEmpty()) {
            reads++;
            return frame(Kind.ARRIVED, read);
        }
        if (IntStream.of(read.expected).anyMatch(read.missing::get)
                && ++read.lossyWindows == MAX_LOSSY_WINDOWS
                && read.missing.cardinality() == read.layout.count()) {
            fail("no datagram has arrived");
        }
        if (failure == null && read.lossyWindows < MAX_LOSSY_WINDOWS) {
            post(read);
        }
        return frame(Kind.MISSING, read);
    }

    private static Frame frame(Kind kind, Read read) {
        var payload = ByteBuffer.allocate(read.posted * Integer.BYTES);
        IntStream.of(read.expected).limit(read.posted).forEach(payload::putInt);
        payload.flip();
        return new Frame(FrameHeader.of(kind, read.call, payload.remaining()), payload);
    }

    /** Returns with no posted receive. */
    private void retract(Read read) {
        if (IntStream.range(0, read.posted).allMatch(slot -> received(read, slot) != null)) {
            return;
        }
        var wasInterrupted = Thread.interrupted(); // an interrupt would end the drain
        try {
            queuePair.drain(DRAIN_TIMEOUT);
            queuePair.modify(QueuePairChange.to(QueuePairState.RESET));
            queuePair.activate(offer.queueKey());
        } catch (IOException | RuntimeException e) {
            fail(e.getMessage());
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns the completion of a receive; null if no datagram has consumed it. */
    private static @Nullable Completion received(Read read, int slot) {
        try {
            var receive = read.receives[slot];
            var completion = receive.isCompleted() ? receive.awaitCompletion(Duration.ZERO) : null;
            return completion != null && completion.isSuccess() ? completion : null;
        } catch (IOException | IllegalStateException _) { // the queue pair was closed
            return null;
        }
    }

    /** Takes the data that has arrived. No receive may be posted. */
    private void take(Read read) {
        var arrived =
                IntStream.range(0, read.posted).map(slot -> arrivedIndex(read, slot)).toArray();
        for (var slot = 0; slot < arrived.length; slot++) {
            var index = arrived[slot];
            if (index == read.expected[slot] && read.layout.length(index) == datagramBytes) {
                read.missing.clear(index);
            }
        }
        var misplaced = new TreeMap<Integer, MemorySegment>();
        for (var slot = 0; slot < arrived.length; slot++) {
            if (arrived[slot] >= 0 && read.missing.get(arrived[slot])) {
                misplaced.put(arrived[slot], place(read, slot).segment());
            }
        }
        // All data is copied first, because it can be in the places of each other.
        misplaced.replaceAll((index, data) ->
                MemorySegment.ofArray(
                        data.asSlice(0, read.layout.length(index)).toArray(ValueLayout.JAVA_BYTE)));
        misplaced.forEach((index, data) -> {
            read.target.slice(read.layout.offset(index), data.byteSize()).segment().copyFrom(data);
            read.missing.clear(index);
        });
        read.posted = 0;
    }

    /**
     * Returns the index of the datagram that has consumed a receive; -1 if there is no valid one.
     */
    private int arrivedIndex(Read read, int slot) {
        var completion = received(read, slot);
        if (completion == null || completion.bytes() < HEADER_BYTES) {
            return -1;
        }
        var header =
                DatagramHeader.decode(
                        headers.segment()
                                .asSlice(
                                        (long) slot * HEADER_BYTES + GlobalRouteHeader.BYTES,
                                        DatagramHeader.BYTES));
        var isValid =
                header.transfer() == offer.firstTransfer() + read.call
                        && header.index() >= 0
                        && header.index() < read.layout.count()
                        && header.dataBytes() == read.layout.length(header.index())
                        && completion.bytes() == HEADER_BYTES + header.dataBytes();
        return isValid ? header.index() : -1;
    }

    /** Ends a read whose reply has arrived, or whose request was not sent. */
    synchronized void end(long call) {
        if (current != null && current.call == call) {
            retract(current);
            current = null;
        }
    }

    /** Ends the current read and rejects further ones. Returns with no posted receive. */
    synchronized void shutdown() {
        fail("the connection has ended");
        current = null;
    }

    /** Closes the queue pair, which retracts all receives. */
    private void fail(@Nullable String reason) {
        queuePair.close();
        if (failure == null) {
            failure = String.valueOf(reason);
            LOG.debug("Reads over {} use RDMA WRITE: {}", queuePair, failure);
        }
    }
}
