package org.jrdma.stress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.StaticRate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that invalid calls are rejected before the provider is called, and that they change
 * nothing.
 */
class InvalidCallRejectionTest {

    private Device device;
    private ProtectionDomain domain;
    private CompletionQueue queue;
    private PolledQueuePair pair;

    @BeforeEach
    void openDevice() throws Exception {
        device = NullProviderDevice.open();
        domain = device.newProtectionDomain();
        queue = device.newCompletionQueue(16);
        pair = domain.newReliableQueuePair(queue);
    }

    @AfterEach
    void closeDevice() {
        if (device != null) {
            device.close();
        }
    }

    @Test
    void shouldRejectTheRegistrationOfABufferWhoseArenaCanBeClosed() {
        try (var shared = Arena.ofShared();
                var confined = Arena.ofConfined()) {
            for (var arena : List.of(shared, confined)) {
                var buffer = arena.allocate(4096).asByteBuffer();

                for (var view : List.of(buffer, buffer.slice(64, 64), buffer.duplicate())) {
                    assertThatIllegalArgumentException()
                            .isThrownBy(() -> domain.register(view, LOCAL_WRITE))
                            .withMessageContaining("arena can be closed");
                }
            }
        }
    }

    @Test
    void shouldRegisterBuffersThatOnlyTheGarbageCollectorFrees() throws Exception {
        for (var buffer :
                List.of(
                        ByteBuffer.allocateDirect(4096),
                        ByteBuffer.allocateDirect(4096).slice(64, 64),
                        Arena.ofAuto().allocate(4096).asByteBuffer(),
                        Arena.global().allocate(4096).asByteBuffer())) {
            try (var region = domain.register(buffer, LOCAL_WRITE)) {
                assertThat(region.length()).isEqualTo(buffer.remaining());
            }
        }
    }

    @Test
    void shouldLeaveRequestsUsableWhenTheyCannotBeChained() throws Exception {
        pair.connect(pair.endpoint());
        var memory = domain.newArena(LOCAL_WRITE).region(4096);
        var first = pair.prepareWrite(memory.slice(0, 8), memory.remote());
        var second = pair.prepareWrite(memory.slice(8, 8), memory.remote());
        var receive = pair.prepareReceive(memory.slice(16, 8));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> pair.prepareChain(first, second, first));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pair.prepareChain(first, second, receive));

        assertThat(first.tryPost()).isTrue();
        assertThat(receive.tryPost()).isTrue();
        assertThat(pair.prepareChain(first, second).tryPost()).isTrue();
        try (var cursor = queue.newCursor(16)) {
            assertThat(cursor.poll()).isEqualTo(4);
        }
    }

    @Test
    void shouldSendWithoutInlineAfterAnInlineSendWasRejected() throws Exception {
        pair.connect(pair.endpoint());
        var tooLong = domain.newArena(LOCAL_WRITE).region(pair.inlineBytes() + 1);
        var send = pair.prepareSend(tooLong.slice());
        var write = pair.prepareWrite(tooLong.slice(), tooLong.remote());

        assertThatIllegalArgumentException().isThrownBy(() -> send.inline(true));
        assertThatIllegalArgumentException().isThrownBy(() -> write.inline(true));

        // These posts would be rejected if the requests were still inline.
        assertThat(send.local(tooLong.slice()).tryPost()).isTrue();
        assertThat(write.local(tooLong.slice()).tryPost()).isTrue();
    }

    @Test
    void shouldRejectNumbersOutOfTheRangeOfAQueuePairChange() {
        var change = QueuePairChange.to(QueuePairState.INIT);

        assertRejected("partition key index", () -> change.partitionKeyIndex(65_536));
        assertRejected("port", () -> change.port(0));
        assertRejected("port", () -> change.port(256));
        assertRejected("queue pair number", () -> change.destinationNumber(1 << 24));
        assertRejected("packet sequence", () -> change.receiveSequence(-1));
        assertRejected("packet sequence", () -> change.sendSequence(1 << 24));
        assertRejected("reads", () -> change.maxDestinationReads(256));
        assertRejected("reads", () -> change.maxReads(256));
        assertRejected("retries", () -> change.retries(8));
        assertRejected("retries", () -> change.receiverNotReadyRetries(8));

        assertThat(change.attributes()).hasSize(1);
    }

    @Test
    void shouldRejectTimesOutOfTheRangeOfAQueuePairChange() {
        var change = QueuePairChange.to(QueuePairState.INIT);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> change.receiverNotReadyTimer(Duration.ofNanos(655_360_001)))
                .withMessageContaining("must be at most 655.36 ms");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> change.receiverNotReadyTimer(Duration.ZERO));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> change.acknowledgeTimeout(Duration.ZERO));
    }

    @Test
    void shouldRejectNumbersOutOfTheRangeOfAnAddress() {
        assertRejected("port", () -> address(256, 0, 0, 0));
        assertRejected("LID", () -> address(1, 65_536, 0, 0));
        assertRejected("service level", () -> address(1, 0, 16, 0));
        assertRejected("source path bits", () -> address(1, 0, 0, 128));
        assertRejected("GID index", () -> route(256, 0, 0, 0));
        assertRejected("flow label", () -> route(0, 1 << 20, 0, 0));
        assertRejected("hop limit", () -> route(0, 0, 256, 0));
        assertRejected("traffic class", () -> route(0, 0, 0, 256));
    }

    @Test
    void shouldConnectAfterNumbersOutOfRangeWereRejected() throws Exception {
        List<UnaryOperator<DirectConnectOptions>> invalidSettings =
                List.of(
                        options -> options.partitionKeyIndex(65_536),
                        options -> options.serviceLevel(16),
                        options -> options.receiverNotReadyTimer(Duration.ofSeconds(1)),
                        options -> options.maxDestinationReads(-1),
                        options -> options.maxReads(-1),
                        options -> options.acknowledgeTimeout(Duration.ZERO),
                        options -> options.retries(8),
                        options -> options.receiverNotReadyRetries(8));
        for (var invalidSetting : invalidSettings) {
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> // some methods of the options reject the value themselves
                            pair.connect(
                                            pair.endpoint(),
                                            invalidSetting.apply(DirectConnectOptions.DEFAULT)));

            assertThat(pair.state()).isEqualTo(QueuePairState.RESET);
        }
        pair.connect(pair.endpoint());
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    private static void assertRejected(String parameter, ThrowingCallable call) {
        assertThatIllegalArgumentException()
                .isThrownBy(call)
                .withMessageStartingWith("The " + parameter + " must be between ");
    }

    private static AddressVector address(int port, int lid, int serviceLevel, int pathBits) {
        return new AddressVector(
                port, lid, serviceLevel, pathBits, StaticRate.UNLIMITED, Optional.empty());
    }

    private static AddressVector.GlobalRoute route(
            int gidIndex, int flowLabel, int hopLimit, int trafficClass) {
        return new AddressVector.GlobalRoute(Gid.NONE, gidIndex, flowLabel, hopLimit, trafficClass);
    }
}
