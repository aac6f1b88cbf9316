package org.jrdma.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedFetchAndAdd;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.RemoteMemory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests the software fabric against the kernel device rxe1, with this SDK on both sides. In
 * addition to the tests with C programs, these tests make each kind of request from each side and
 * compare all bytes. The packet sequence numbers of both sides wrap around after 16 packets.
 */
class SdkAgainstKernelDeviceTest {

    /**
     * The number of slots in each part of the memory. Each slot is used by one request of each
     * kind.
     */
    private static final int SLOTS = 16;

    private static final int SLOT_BYTES = 5000;

    // The regions of both sides have the same layout.
    private static final int SOURCE = 0;
    private static final int WRITTEN = SLOTS * SLOT_BYTES;
    private static final int READ_BACK = 2 * WRITTEN;
    private static final int RECEIVED = 3 * WRITTEN;
    private static final int FETCHED = 4 * WRITTEN;
    private static final int COUNTER = FETCHED + SLOTS * Long.BYTES;
    private static final int GUARD = COUNTER + Long.BYTES;
    private static final int BYTES = GUARD + 4096;

    /** The side that is the requester in a test. */
    enum Requester {
        SOFTWARE,
        KERNEL
    }

    /** Two connected sides. */
    private static final class Ends implements AutoCloseable {

        final QueuePairFixture software;
        final QueuePairFixture kernel;

        Ends(Family family, Mtu mtu, int reads) throws Exception {
            this(family, mtu, reads, options -> options);
        }

        Ends(
                Family family,
                Mtu mtu,
                int reads,
                UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
                throws Exception {
            VethLinkToKernel.pathMtu(mtu);
            software = QueuePairFixture.software(family, BYTES, change);
            kernel = QueuePairFixture.kernel(family, BYTES, change);
            software.connect(kernel.endpoint(), mtu, reads, reads);
            kernel.connect(software.endpoint(), mtu, reads, reads);
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
    }

    @ParameterizedTest
    @CsvSource({
        "SOFTWARE, IPV4, BYTES_1024",
        "SOFTWARE, IPV6, BYTES_4096",
        "KERNEL, IPV4, BYTES_1024",
        "KERNEL, IPV6, BYTES_4096",
        "SOFTWARE, IPV4, BYTES_256",
        "KERNEL, IPV4, BYTES_256",
    })
    void shouldExecuteAllKindsOfRequests(Requester end, Family family, Mtu mtu) throws Exception {
        try (var ends = new Ends(family, mtu, 16)) {
            makeRequests(ends, end, 20);
        }
    }

    @ParameterizedTest
    @EnumSource(Requester.class)
    void shouldExecuteReadsOneAtATime(Requester end) throws Exception {
        try (var ends = new Ends(Family.IPV4, Mtu.BYTES_1024, 1)) {
            makeRequests(ends, end, 20);
        }
    }

    /**
     * If the kernel is the requester, the faults do not reorder or duplicate packets. The requester
     * of the kernel would fail because of an acknowledgment that follows the first packet of a read
     * response.
     */
    @ParameterizedTest
    @CsvSource({
        "SOFTWARE, wire0 wire1, loss 2%",
        "KERNEL,   wire0 wire1, loss 2%",
        "SOFTWARE, wire0 wire1, delay 1ms reorder 25% 50%",
        "SOFTWARE, wire0 wire1, loss 1% duplicate 5% delay 500us 400us",
        "SOFTWARE, wire0 wire1, corrupt 2%",
        "KERNEL,   wire0 wire1, corrupt 2%",
    })
    void shouldExecuteAllKindsOfRequestsOnAFaultyWire(
            Requester end, String faultyEnds, String faults) throws Exception {
        try (var ends = new Ends(Family.IPV6, Mtu.BYTES_1024, 16)) {
            for (var sender : faultyEnds.split(" ", -1)) {
                VethLinkToKernel.faults(sender, faults);
            }
            makeRequests(ends, end, 10);
        } finally {
            VethLinkToKernel.removeFaults();
        }
    }

    @ParameterizedTest
    @EnumSource(Requester.class)
    void shouldDropPacketsThatTheSoftwareFabricCorrupts(Requester end) throws Exception {
        var device = QueuePairFixture.softDevice(Family.IPV4);
        try (var ends = new Ends(Family.IPV4, Mtu.BYTES_1024, 16)) {
            device.faults(NetworkFaults.seeded(1).corruption(0.02));
            makeRequests(ends, end, 10);
        } finally {
            device.faults(NetworkFaults.NONE);
        }
    }

    /**
     * Makes requests and checks all results. In each round, there are four requests for each slot:
     * a write, a read of the written data, a fetch-and-add and a message.
     */
    private static void makeRequests(Ends ends, Requester end, int rounds) throws IOException {
        var requester = ends.requester(end);
        var responder = ends.responder(end);
        responder.memory().segment().asSlice(GUARD).fill((byte) 0x5a);
        var random = new SplittableRandom(1);
        var requests = requests(requester, responder.memory().remote());
        var receives = new ArrayList<PreparedRequest<?>>();
        for (var slot = 0; slot < SLOTS; slot++) {
            receives.add(responder.queuePair().prepareReceive(slot(responder, RECEIVED, slot)));
        }
        try {
            for (var round = 0; round < rounds; round++) {
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
                            .isEqualTo((long) round * SLOTS + slot);
                }
            }
        } catch (IOException | AssertionError e) {
            throw new AssertionError(ends.software.trace(), e);
        }
        assertThat(responder.memory().segment().get(JAVA_LONG, COUNTER))
                .isEqualTo((long) rounds * SLOTS);
        for (var offset = GUARD; offset < BYTES; offset++) {
            assertThat(responder.memory().segment().get(JAVA_BYTE, offset)).isEqualTo((byte) 0x5a);
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

    private static MemorySlice slot(QueuePairFixture side, int part, int slot) {
        return side.memory().slice(part + (long) slot * SLOT_BYTES, SLOT_BYTES);
    }

    private static MemorySegment part(QueuePairFixture side, int part) {
        return side.memory().segment().asSlice(part, (long) SLOTS * SLOT_BYTES);
    }

    private static void fill(MemorySegment segment, SplittableRandom random) {
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

    @ParameterizedTest
    @EnumSource(Requester.class)
    void shouldRetryAMessageUntilThePeerPostsAReceive(Requester end) throws Exception {
        try (var ends = new Ends(Family.IPV4, Mtu.BYTES_1024, 1)) {
            var requester = ends.requester(end);
            var responder = ends.responder(end);
            requester.memory().segment().setString(0, "Saluton, mondo");
            requester.post(requester.queuePair().prepareSend(slot(requester, SOURCE, 0)));
            Thread.sleep(Duration.ofMillis(200));
            assertThat(requester.cursor().poll()).isZero();

            responder.post(responder.queuePair().prepareReceive(slot(responder, RECEIVED, 0)));

            requester.awaitCompletions(1);
            responder.awaitCompletions(1);
            assertThat(responder.memory().segment().getString(RECEIVED))
                    .isEqualTo("Saluton, mondo");
        }
    }

    /** The message that invalidates the window has one packet or several. */
    @ParameterizedTest
    @CsvSource({"SOFTWARE, 100", "SOFTWARE, 5000", "KERNEL, 100", "KERNEL, 5000"})
    void shouldUseAWindowUntilItIsInvalidated(Requester end, int bytes) throws Exception {
        try (var ends = new Ends(Family.IPV4, Mtu.BYTES_1024, 1)) {
            var requester = ends.requester(end);
            var responder = ends.responder(end);
            fill(part(requester, SOURCE), new SplittableRandom(1));
            var source = slot(requester, SOURCE, 0);
            var window = responder.domain().newType2Window();
            responder.post(
                    responder
                            .queuePair()
                            .prepareBind(window, responder.memory(), REMOTE_WRITE, REMOTE_READ)
                            .range(WRITTEN, SLOT_BYTES));
            responder.awaitCompletions(1);
            var windowMemory = window.remote();
            responder.post(responder.queuePair().prepareReceive(slot(responder, RECEIVED, 0)));

            requester.post(requester.queuePair().prepareWrite(source, windowMemory));
            requester.post(
                    requester.queuePair().prepareRead(slot(requester, READ_BACK, 0), windowMemory));
            requester.post(
                    requester
                            .queuePair()
                            .prepareSend(source.slice(0, bytes))
                            .invalidating(windowMemory)
                            .fenced(true));

            requester.awaitCompletions(3);
            responder.awaitAny();
            assertThat(responder.cursor().next()).isTrue();
            responder.check();
            assertThat(responder.cursor().bytes()).isEqualTo(bytes);
            if (end == Requester.KERNEL) { // The kernel as responder does not report the key.
                assertThat(responder.cursor().invalidatedKey()).isEqualTo(windowMemory.key());
            }
            assertThat(slot(responder, WRITTEN, 0).segment().mismatch(source.segment()))
                    .isEqualTo(-1);
            assertThat(slot(requester, READ_BACK, 0).segment().mismatch(source.segment()))
                    .isEqualTo(-1);
            requester.post(
                    requester.queuePair().prepareWrite(slot(requester, SOURCE, 1), windowMemory));
            requester.awaitAny();
            assertThat(requester.cursor().next()).isTrue();
            assertThat(requester.cursor().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(slot(responder, WRITTEN, 0).segment().mismatch(source.segment()))
                    .isEqualTo(-1);
        }
    }

    /**
     * The flag is an atomic write. When the flag has arrived, all data that was written before it
     * must have arrived.
     */
    @ParameterizedTest
    @EnumSource(Requester.class)
    void shouldWriteAFlagAfterTheDataThatItAnnounces(Requester end) throws Exception {
        try (var ends =
                new Ends(Family.IPV4, Mtu.BYTES_1024, 1, options -> options.atomicWrites())) {
            var requester = ends.requester(end);
            var responder = ends.responder(end);
            fill(part(requester, SOURCE), new SplittableRandom(1));
            var source = slot(requester, SOURCE, 0);
            var remote = responder.memory().remote();
            var flag = requester.queuePair().prepareAtomicWrite(remote.slice(COUNTER, 8));

            for (var round = 1L; round <= 20; round++) {
                requester.post(
                        requester
                                .queuePair()
                                .prepareWrite(source, remote.slice(WRITTEN, SLOT_BYTES))
                                .signaled(false));
                requester.post(flag.value(round << 40 | round));
                requester.awaitCompletions(1);
                assertThat(responder.memory().segment().get(JAVA_LONG, COUNTER))
                        .isEqualTo(round << 40 | round);
            }

            assertThat(slot(responder, WRITTEN, 0).segment().mismatch(source.segment()))
                    .isEqualTo(-1);
            assertThat(responder.memory().segment().get(JAVA_LONG, GUARD)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Requester.class)
    void shouldRejectAWriteWithAWrongKey(Requester end) throws Exception {
        try (var ends = new Ends(Family.IPV4, Mtu.BYTES_1024, 1)) {
            var requester = ends.requester(end);
            var responder = ends.responder(end);
            fill(part(requester, SOURCE), new SplittableRandom(1));
            var valid = responder.memory().remote();
            var invalid = new RemoteMemory(valid.address(), valid.key() ^ 0x100, valid.length());

            requester.post(requester.queuePair().prepareWrite(slot(requester, SOURCE, 0), invalid));

            requester.awaitAny();
            assertThat(requester.cursor().next()).isTrue();
            assertThat(requester.cursor().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
            for (var offset = 0; offset < BYTES; offset += Long.BYTES) {
                assertThat(responder.memory().segment().get(JAVA_LONG, offset)).isZero();
            }
        }
    }
}
