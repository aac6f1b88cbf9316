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
 * Tests rxe1 and the software fabric with this SDK at both ends, which allows more checks than the
 * C programs: each side makes all requests to the other, and all bytes are compared. The sequence
 * numbers of both wrap around after 16 packets.
 */
class BothEndsTest {

    /** One of each kind of request works on each slot. */
    private static final int SLOTS = 16;

    private static final int SLOT_BYTES = 5000;

    // The regions of both sides have the same layout.
    private static final int SOURCE = 0;
    private static final int WRITTEN = SLOTS * SLOT_BYTES;
    private static final int READ_BACK = 2 * WRITTEN;
    private static final int RECEIVED = 3 * WRITTEN;
    private static final int FORMER = 4 * WRITTEN;
    private static final int COUNTER = FORMER + SLOTS * Long.BYTES;
    private static final int GUARD = COUNTER + Long.BYTES;
    private static final int BYTES = GUARD + 4096;

    /** The end that makes requests. */
    enum Asking {
        SOFTWARE,
        KERNEL
    }

    /** Two connected sides. */
    private static final class Ends implements AutoCloseable {

        final Side software;
        final Side kernel;

        Ends(Family family, Mtu mtu, int reads) throws Exception {
            this(family, mtu, reads, options -> options);
        }

        Ends(
                Family family,
                Mtu mtu,
                int reads,
                UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
                throws Exception {
            Wire.pathMtu(mtu);
            software = Side.software(family, BYTES, change);
            kernel = Side.kernel(family, BYTES, change);
            software.connect(kernel.endpoint(), mtu, reads, reads);
            kernel.connect(software.endpoint(), mtu, reads, reads);
        }

        Side asking(Asking end) {
            return end == Asking.SOFTWARE ? software : kernel;
        }

        Side answering(Asking end) {
            return end == Asking.SOFTWARE ? kernel : software;
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
    void shouldDoAllThereIs(Asking end, Family family, Mtu mtu) throws Exception {
        try (var ends = new Ends(family, mtu, 16)) {
            ask(ends, end, 20);
        }
    }

    @ParameterizedTest
    @EnumSource(Asking.class)
    void shouldReadOneAtATime(Asking end) throws Exception {
        try (var ends = new Ends(Family.IPV4, Mtu.BYTES_1024, 1)) {
            ask(ends, end, 20);
        }
    }

    /**
     * If the kernel is the requester, the network keeps the order and does not duplicate packets,
     * because its requester fails if an acknowledgement follows the first part of a read response.
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
    void shouldDoAllThereIsOnABadWire(Asking end, String where, String trouble) throws Exception {
        try (var ends = new Ends(Family.IPV6, Mtu.BYTES_1024, 16)) {
            for (var sender : where.split(" ", -1)) {
                Wire.trouble(sender, trouble);
            }
            ask(ends, end, 10);
        } finally {
            Wire.calm();
        }
    }

    @ParameterizedTest
    @EnumSource(Asking.class)
    void shouldHaveThePeerDropPacketsThatThisSideCorrupts(Asking end) throws Exception {
        var device = Side.softDevice(Family.IPV4);
        try (var ends = new Ends(Family.IPV4, Mtu.BYTES_1024, 16)) {
            device.faults(NetworkFaults.seeded(1).withCorruption(0.02));
            ask(ends, end, 10);
        } finally {
            device.faults(NetworkFaults.NONE);
        }
    }

    /**
     * In each round, for each slot: a write, a read of the written data, a fetch-and-add, a
     * message.
     */
    private static void ask(Ends ends, Asking end, int rounds) throws IOException {
        var asking = ends.asking(end);
        var answering = ends.answering(end);
        answering.memory().segment().asSlice(GUARD).fill((byte) 0x5a);
        var random = new SplittableRandom(1);
        var requests = requests(asking, answering.memory().remote());
        var receives = new ArrayList<PreparedRequest<?>>();
        for (var slot = 0; slot < SLOTS; slot++) {
            receives.add(answering.queuePair().prepareReceive(slot(answering, RECEIVED, slot)));
        }
        try {
            for (var round = 0; round < rounds; round++) {
                fill(part(asking, SOURCE), random);
                for (var receive : receives) {
                    answering.post(receive);
                }
                for (var request : requests) {
                    asking.post(request);
                }
                awaitInOrder(asking, requests.size());
                awaitMessages(answering);
                assertThat(part(answering, WRITTEN).mismatch(part(asking, SOURCE))).isEqualTo(-1);
                assertThat(part(asking, READ_BACK).mismatch(part(asking, SOURCE))).isEqualTo(-1);
                assertThat(part(answering, RECEIVED).mismatch(part(asking, SOURCE))).isEqualTo(-1);
                for (var slot = 0; slot < SLOTS; slot++) {
                    assertThat(asking.memory().segment().get(JAVA_LONG, FORMER + 8L * slot))
                            .isEqualTo((long) round * SLOTS + slot);
                }
            }
        } catch (IOException | AssertionError e) {
            throw new AssertionError(ends.software.trace(), e);
        }
        assertThat(answering.memory().segment().get(JAVA_LONG, COUNTER))
                .isEqualTo((long) rounds * SLOTS);
        for (var offset = GUARD; offset < BYTES; offset++) {
            assertThat(answering.memory().segment().get(JAVA_BYTE, offset)).isEqualTo((byte) 0x5a);
        }
    }

    private static List<PreparedRequest<?>> requests(Side side, RemoteMemory remote) {
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

    private static PreparedFetchAndAdd count(Side side, RemoteMemory remote, int slot) {
        var former = side.memory().slice(FORMER + (long) slot * Long.BYTES, Long.BYTES);
        return side.queuePair()
                .prepareFetchAndAdd(former, remote.slice(COUNTER, Long.BYTES))
                .delta(1);
    }

    private static MemorySlice slot(Side side, int part, int slot) {
        return side.memory().slice(part + (long) slot * SLOT_BYTES, SLOT_BYTES);
    }

    private static MemorySegment part(Side side, int part) {
        return side.memory().segment().asSlice(part, (long) SLOTS * SLOT_BYTES);
    }

    private static void fill(MemorySegment segment, SplittableRandom random) {
        var bytes = new byte[(int) segment.byteSize()];
        random.nextBytes(bytes);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, segment, 0, bytes.length);
    }

    private static void awaitInOrder(Side side, int count) throws IOException {
        for (var next = 0; next < count; ) {
            side.awaitAny();
            while (side.cursor().next()) {
                side.check();
                assertThat(side.cursor().id()).isEqualTo(next);
                next++;
            }
        }
    }

    private static void awaitMessages(Side side) throws IOException {
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
    @EnumSource(Asking.class)
    void shouldComeAgainWhenThePeerHasNoReceive(Asking end) throws Exception {
        try (var ends = new Ends(Family.IPV4, Mtu.BYTES_1024, 1)) {
            var asking = ends.asking(end);
            var answering = ends.answering(end);
            asking.memory().segment().setString(0, "Saluton, mondo");
            asking.post(asking.queuePair().prepareSend(slot(asking, SOURCE, 0)));
            Thread.sleep(Duration.ofMillis(200));
            assertThat(asking.cursor().poll()).isZero();

            answering.post(answering.queuePair().prepareReceive(slot(answering, RECEIVED, 0)));

            asking.awaitCompletions(1);
            answering.awaitCompletions(1);
            assertThat(answering.memory().segment().getString(RECEIVED))
                    .isEqualTo("Saluton, mondo");
        }
    }

    /** The message that invalidates the window has one packet or several. */
    @ParameterizedTest
    @CsvSource({"SOFTWARE, 100", "SOFTWARE, 5000", "KERNEL, 100", "KERNEL, 5000"})
    void shouldUseAWindowUntilItIsTakenAway(Asking end, int bytes) throws Exception {
        try (var ends = new Ends(Family.IPV4, Mtu.BYTES_1024, 1)) {
            var asking = ends.asking(end);
            var answering = ends.answering(end);
            fill(part(asking, SOURCE), new SplittableRandom(1));
            var source = slot(asking, SOURCE, 0);
            var window = answering.domain().newType2Window();
            answering.post(
                    answering
                            .queuePair()
                            .prepareBind(window, answering.memory(), REMOTE_WRITE, REMOTE_READ)
                            .range(WRITTEN, SLOT_BYTES));
            answering.awaitCompletions(1);
            var shown = window.remote();
            answering.post(answering.queuePair().prepareReceive(slot(answering, RECEIVED, 0)));

            asking.post(asking.queuePair().prepareWrite(source, shown));
            asking.post(asking.queuePair().prepareRead(slot(asking, READ_BACK, 0), shown));
            asking.post(
                    asking.queuePair()
                            .prepareSend(source.slice(0, bytes))
                            .invalidating(shown)
                            .fenced(true));

            asking.awaitCompletions(3);
            answering.awaitAny();
            assertThat(answering.cursor().next()).isTrue();
            answering.check();
            assertThat(answering.cursor().bytes()).isEqualTo(bytes);
            if (end == Asking.KERNEL) { // the kernel does not report this as a receiver
                assertThat(answering.cursor().invalidatedKey()).isEqualTo(shown.key());
            }
            assertThat(slot(answering, WRITTEN, 0).segment().mismatch(source.segment()))
                    .isEqualTo(-1);
            assertThat(slot(asking, READ_BACK, 0).segment().mismatch(source.segment()))
                    .isEqualTo(-1);
            asking.post(asking.queuePair().prepareWrite(slot(asking, SOURCE, 1), shown));
            asking.awaitAny();
            assertThat(asking.cursor().next()).isTrue();
            assertThat(asking.cursor().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(slot(answering, WRITTEN, 0).segment().mismatch(source.segment()))
                    .isEqualTo(-1);
        }
    }

    /** The atomically written flag announces the data that was written before. */
    @ParameterizedTest
    @EnumSource(Asking.class)
    void shouldWriteAFlagAfterTheDataThatItAnnounces(Asking end) throws Exception {
        try (var ends =
                new Ends(Family.IPV4, Mtu.BYTES_1024, 1, options -> options.atomicWrites())) {
            var asking = ends.asking(end);
            var answering = ends.answering(end);
            fill(part(asking, SOURCE), new SplittableRandom(1));
            var source = slot(asking, SOURCE, 0);
            var remote = answering.memory().remote();
            var flag = asking.queuePair().prepareAtomicWrite(remote.slice(COUNTER, 8));

            for (var round = 1L; round <= 20; round++) {
                asking.post(
                        asking.queuePair()
                                .prepareWrite(source, remote.slice(WRITTEN, SLOT_BYTES))
                                .signaled(false));
                asking.post(flag.value(round << 40 | round));
                asking.awaitCompletions(1);
                assertThat(answering.memory().segment().get(JAVA_LONG, COUNTER))
                        .isEqualTo(round << 40 | round);
            }

            assertThat(slot(answering, WRITTEN, 0).segment().mismatch(source.segment()))
                    .isEqualTo(-1);
            assertThat(answering.memory().segment().get(JAVA_LONG, GUARD)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Asking.class)
    void shouldBeRefusedWithAWrongKey(Asking end) throws Exception {
        try (var ends = new Ends(Family.IPV4, Mtu.BYTES_1024, 1)) {
            var asking = ends.asking(end);
            var answering = ends.answering(end);
            fill(part(asking, SOURCE), new SplittableRandom(1));
            var right = answering.memory().remote();
            var wrong = new RemoteMemory(right.address(), right.key() ^ 0x100, right.length());

            asking.post(asking.queuePair().prepareWrite(slot(asking, SOURCE, 0), wrong));

            asking.awaitAny();
            assertThat(asking.cursor().next()).isTrue();
            assertThat(asking.cursor().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
            for (var offset = 0; offset < BYTES; offset += Long.BYTES) {
                assertThat(answering.memory().segment().get(JAVA_LONG, offset)).isZero();
            }
        }
    }
}
