package org.jrdma.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedFetchAndAdd;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * A queue pair of the software fabric and one of the kernel device rxe1, which are connected, with
 * this SDK on both sides.
 */
final class ConnectedEnds implements AutoCloseable {

    /**
     * The number of slots in each part of the memory. Each slot is used by one request of each
     * kind.
     */
    static final int SLOTS = 16;

    static final int SLOT_BYTES = 5000;

    // The regions of both sides have the same layout.
    static final int SOURCE = 0;
    static final int WRITTEN = SLOTS * SLOT_BYTES;
    static final int READ_BACK = 2 * WRITTEN;
    static final int RECEIVED = 3 * WRITTEN;
    static final int FETCHED = 4 * WRITTEN;
    static final int COUNTER = FETCHED + SLOTS * Long.BYTES;
    static final int GUARD = COUNTER + Long.BYTES;
    static final int BYTES = GUARD + 4096;

    /** The side that is the requester in a test. */
    enum Requester {
        SOFTWARE,
        KERNEL
    }

    private final QueuePairFixture software;
    private final QueuePairFixture kernel;

    private ConnectedEnds(
            Family family, Mtu linkMtu, UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws Exception {
        VethLinkToKernel.pathMtu(linkMtu);
        software = QueuePairFixture.software(family, BYTES, change);
        kernel = QueuePairFixture.kernel(family, BYTES, change);
    }

    static ConnectedEnds open(Family family, Mtu mtu, int reads) throws Exception {
        return open(family, mtu, reads, options -> options);
    }

    static ConnectedEnds open(
            Family family,
            Mtu mtu,
            int reads,
            UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws Exception {
        var ends = new ConnectedEnds(family, mtu, change);
        ends.software.connect(ends.kernel.endpoint(), mtu, reads, reads);
        ends.kernel.connect(ends.software.endpoint(), mtu, reads, reads);
        return ends;
    }

    /** Opens ends that wait for an acknowledgment for a given time before they retry. */
    static ConnectedEnds open(Duration acknowledgeTimeout) throws Exception {
        var mtu = Mtu.BYTES_1024;
        var ends = new ConnectedEnds(Family.IPV4, mtu, options -> options);
        ends.software.connect(ends.kernel.endpoint(), mtu, 16, 16, acknowledgeTimeout);
        ends.kernel.connect(ends.software.endpoint(), mtu, 16, 16, acknowledgeTimeout);
        return ends;
    }

    /** Opens ends with different path MTUs. */
    static ConnectedEnds open(Mtu software, Mtu kernel) throws Exception {
        var ends = new ConnectedEnds(Family.IPV4, Mtu.BYTES_4096, options -> options);
        ends.software.connect(ends.kernel.endpoint(), software);
        ends.kernel.connect(ends.software.endpoint(), kernel);
        return ends;
    }

    QueuePairFixture requester(Requester end) {
        return end == Requester.SOFTWARE ? software : kernel;
    }

    QueuePairFixture responder(Requester end) {
        return end == Requester.SOFTWARE ? kernel : software;
    }

    @Override
    public void close() throws IOException {
        try (software) {
            kernel.close();
        }
    }

    /** Makes a number of rounds of requests, see {@link #makeRequests(Requester, IntPredicate)}. */
    void makeRequests(Requester end, int rounds) throws IOException {
        makeRequests(end, round -> round < rounds);
    }

    /**
     * Makes requests and checks all results. In each round, there are four requests for each slot:
     * a write, a read of the written data, a fetch-and-add and a message.
     *
     * @param isDue returns true if the round with the given number is to be run; called before each
     *     round
     */
    void makeRequests(Requester end, IntPredicate isDue) throws IOException {
        var requester = requester(end);
        var responder = responder(end);
        responder.memory().segment().asSlice(GUARD).fill((byte) 0x5a);
        var random = new SplittableRandom(1);
        var requests = requests(requester, responder.memory().remote());
        var receives = new ArrayList<PreparedRequest<?>>();
        for (var slot = 0; slot < SLOTS; slot++) {
            receives.add(responder.queuePair().prepareReceive(slot(responder, RECEIVED, slot)));
        }
        var rounds = 0;
        try {
            for (; isDue.test(rounds); rounds++) {
                fill(part(requester, SOURCE), random);
                for (var receive : receives) {
                    responder.post(receive);
                }
                for (var request : requests) {
                    requester.post(request);
                }
                awaitInOrder(requester, requests.size());
                awaitMessages(responder);
                var source = part(requester, SOURCE);
                assertThat(part(responder, WRITTEN).mismatch(source)).isEqualTo(-1);
                assertThat(part(requester, READ_BACK).mismatch(source)).isEqualTo(-1);
                assertThat(part(responder, RECEIVED).mismatch(source)).isEqualTo(-1);
                for (var slot = 0; slot < SLOTS; slot++) {
                    assertThat(requester.memory().segment().get(JAVA_LONG, FETCHED + 8L * slot))
                            .isEqualTo((long) rounds * SLOTS + slot);
                }
            }
        } catch (IOException | AssertionError e) {
            throw new AssertionError(software.trace(), e);
        }
        assertThat(rounds).isPositive();
        assertThat(responder.memory().segment().get(JAVA_LONG, COUNTER))
                .isEqualTo((long) rounds * SLOTS);
        for (var offset = GUARD; offset < BYTES; offset++) {
            assertThat(responder.memory().segment().get(JAVA_BYTE, offset)).isEqualTo((byte) 0x5a);
        }
    }

    static void assertThatMemoryIsUntouched(QueuePairFixture side) {
        for (var offset = 0; offset < BYTES; offset += Long.BYTES) {
            assertThat(side.memory().segment().get(JAVA_LONG, offset)).isZero();
        }
    }

    private static List<PreparedRequest<?>> requests(QueuePairFixture side, RemoteMemory remote) {
        var queuePair = side.queuePair();
        var requests = new ArrayList<PreparedRequest<?>>();
        for (var slot = 0; slot < SLOTS; slot++) {
            var source = slot(side, SOURCE, slot);
            var written = remote.slice(WRITTEN + (long) slot * SLOT_BYTES, SLOT_BYTES);
            requests.add(queuePair.prepareWrite(source, written).id(requests.size()));
            requests.add(
                    queuePair
                            .prepareRead(slot(side, READ_BACK, slot), written)
                            .id(requests.size()));
            requests.add(count(side, remote, slot).id(requests.size()));
            requests.add(queuePair.prepareSend(source).immediate(slot).id(requests.size()));
        }
        return requests;
    }

    private static PreparedFetchAndAdd count(QueuePairFixture side, RemoteMemory remote, int slot) {
        var former = side.memory().slice(FETCHED + (long) slot * Long.BYTES, Long.BYTES);
        return side.queuePair()
                .prepareFetchAndAdd(former, remote.slice(COUNTER, Long.BYTES))
                .delta(1);
    }

    static MemorySlice slot(QueuePairFixture side, int part, int slot) {
        return side.memory().slice(part + (long) slot * SLOT_BYTES, SLOT_BYTES);
    }

    static MemorySegment part(QueuePairFixture side, int part) {
        return side.memory().segment().asSlice(part, (long) SLOTS * SLOT_BYTES);
    }

    static void fill(MemorySegment segment, SplittableRandom random) {
        var bytes = new byte[(int) segment.byteSize()];
        random.nextBytes(bytes);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, segment, 0, bytes.length);
    }

    private static void awaitInOrder(QueuePairFixture side, int count) throws IOException {
        for (var next = 0; next < count; ) {
            side.awaitAny();
            while (side.cursor().next()) {
                side.check();
                assertThat(side.cursor().id()).isEqualTo(next);
                next++;
            }
        }
    }

    private static void awaitMessages(QueuePairFixture side) throws IOException {
        for (var slot = 0; slot < SLOTS; ) {
            side.awaitAny();
            while (side.cursor().next()) {
                side.check();
                assertThat(side.cursor().kind()).isEqualTo(CompletionKind.RECEIVE);
                assertThat(side.cursor().bytes()).isEqualTo(SLOT_BYTES);
                assertThat(side.cursor().immediate()).isEqualTo(slot);
                slot++;
            }
        }
    }
}
