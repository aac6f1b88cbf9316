package org.jrdma.wire;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;
import static org.jrdma.wire.ConnectedEnds.COUNTER;
import static org.jrdma.wire.ConnectedEnds.GUARD;
import static org.jrdma.wire.ConnectedEnds.READ_BACK;
import static org.jrdma.wire.ConnectedEnds.RECEIVED;
import static org.jrdma.wire.ConnectedEnds.SLOT_BYTES;
import static org.jrdma.wire.ConnectedEnds.SOURCE;
import static org.jrdma.wire.ConnectedEnds.WRITTEN;
import static org.jrdma.wire.ConnectedEnds.assertThatMemoryIsUntouched;
import static org.jrdma.wire.ConnectedEnds.fill;
import static org.jrdma.wire.ConnectedEnds.part;
import static org.jrdma.wire.ConnectedEnds.slot;

import java.time.Duration;
import java.util.SplittableRandom;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.wire.ConnectedEnds.Requester;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests the software fabric against the kernel device rxe1, with this SDK on both sides. In
 * addition to the tests with C programs, these tests make each kind of request from each side and
 * compare all bytes. The packet sequence numbers of both sides wrap around after 16 packets.
 */
class SdkAgainstKernelDeviceTest {

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
        try (var ends = ConnectedEnds.open(family, mtu, 16)) {
            ends.makeRequests(end, 20);
        }
    }

    @ParameterizedTest
    @EnumSource(Requester.class)
    void shouldExecuteReadsOneAtATime(Requester end) throws Exception {
        try (var ends = ConnectedEnds.open(Family.IPV4, Mtu.BYTES_1024, 1)) {
            ends.makeRequests(end, 20);
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
        try (var ends = ConnectedEnds.open(Family.IPV6, Mtu.BYTES_1024, 16)) {
            for (var sender : faultyEnds.split(" ", -1)) {
                VethLinkToKernel.faults(sender, faults);
            }
            ends.makeRequests(end, 10);
        } finally {
            VethLinkToKernel.removeFaults();
        }
    }

    @ParameterizedTest
    @EnumSource(Requester.class)
    void shouldDropPacketsThatTheSoftwareFabricCorrupts(Requester end) throws Exception {
        var device = QueuePairFixture.softDevice(Family.IPV4);
        try (var ends = ConnectedEnds.open(Family.IPV4, Mtu.BYTES_1024, 16)) {
            device.faults(NetworkFaults.seeded(1).corruption(0.02));
            ends.makeRequests(end, 10);
        } finally {
            device.faults(NetworkFaults.NONE);
        }
    }

    @ParameterizedTest
    @EnumSource(Requester.class)
    void shouldRetryAMessageUntilThePeerPostsAReceive(Requester end) throws Exception {
        try (var ends = ConnectedEnds.open(Family.IPV4, Mtu.BYTES_1024, 1)) {
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
        try (var ends = ConnectedEnds.open(Family.IPV4, Mtu.BYTES_1024, 1)) {
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
                ConnectedEnds.open(
                        Family.IPV4, Mtu.BYTES_1024, 1, options -> options.atomicWrites())) {
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
        try (var ends = ConnectedEnds.open(Family.IPV4, Mtu.BYTES_1024, 1)) {
            var requester = ends.requester(end);
            var responder = ends.responder(end);
            fill(part(requester, SOURCE), new SplittableRandom(1));
            var valid = responder.memory().remote();
            var invalid = new RemoteMemory(valid.address(), valid.key() ^ 0x100, valid.length());

            requester.post(requester.queuePair().prepareWrite(slot(requester, SOURCE, 0), invalid));

            requester.awaitAny();
            assertThat(requester.cursor().next()).isTrue();
            assertThat(requester.cursor().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
            assertThatMemoryIsUntouched(responder);
        }
    }
}
