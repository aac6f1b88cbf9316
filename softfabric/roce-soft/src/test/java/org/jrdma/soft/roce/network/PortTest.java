package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executors;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.CompletionKind;
import org.jrdma.soft.roce.engine.CompletionStatus;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.SendOperationKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests transfers between ports, and the opening and closing of ports. */
@ParameterizedClass(name = "shared memory: {0}")
@ValueSource(booleans = {true, false})
class PortTest {

    @Parameter private boolean sharesMemory;

    /**
     * The smallest common size of socket buffers: the kernel doubles it to its usual default of
     * 212,992 bytes.
     */
    private static final int DEFAULT_SOCKET_BUFFER = 106_496;

    @Test
    void shouldTransferMessagesWithoutPolling() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            var pair = PortFixture.connected(left, right, left.port.pathMtu());
            left.memory.fill((byte) 7);
            right.receive(pair[1], 1, 0, 100_000);
            left.send(pair[0], 2, 0, 100_000);
            assertThat(right.await())
                    .isEqualTo(
                            new PortFixture.Done(
                                    pair[1].number(),
                                    1,
                                    CompletionStatus.SUCCESS,
                                    CompletionKind.RECEIVE,
                                    100_000));
            assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(right.memory.get(ValueLayout.JAVA_BYTE, 99_999)).isEqualTo((byte) 7);
            assertThat(right.memory.get(ValueLayout.JAVA_BYTE, 100_000)).isZero();
        }
    }

    @Test
    void shouldTransferMegabytesWithoutExhaustingRetries() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            var pair = PortFixture.connected(left, right, 4096);
            var bytes = (int) PortFixture.REGION;
            left.memory.fill((byte) 9);
            left.move(pair[0], 1, SendOperationKind.WRITE, 0, bytes, right);
            assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(right.memory.mismatch(left.memory)).isEqualTo(-1);
            right.memory.fill((byte) 3);
            left.move(pair[0], 2, SendOperationKind.READ, 0, bytes, right);
            assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(right.memory.mismatch(left.memory)).isEqualTo(-1);
        }
    }

    @Test
    void shouldNotExhaustRetriesOfHundredsOfQueuePairsWithSmallBuffers() throws Exception {
        try (var left = PortFixture.anywhere(DEFAULT_SOCKET_BUFFER, sharesMemory);
                var right = PortFixture.anywhere(DEFAULT_SOCKET_BUFFER, sharesMemory)) {
            var count = 300;
            var bytes = 64 << 10;
            left.memory.fill((byte) 5);
            var queuePairs = new QueuePair[count];
            for (var i = 0; i < count; i++) {
                queuePairs[i] = PortFixture.connected(left, right, 4096)[0];
            }
            for (var i = 0; i < count; i++) {
                left.move(queuePairs[i], i, SendOperationKind.WRITE, 0, bytes, right);
                left.move(queuePairs[i], i, SendOperationKind.READ, bytes, bytes, right);
            }
            for (var i = 0; i < 2 * count; i++) {
                assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
            }
            assertThat(right.memory.asSlice(0, bytes).mismatch(left.memory.asSlice(0, bytes)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void shouldCloseOnceWhenSeveralThreadsCloseIt() throws Exception {
        try (var station = PortFixture.anywhere(sharesMemory);
                var closers = Executors.newVirtualThreadPerTaskExecutor()) {
            var closings =
                    closers.invokeAll(
                            Collections.nCopies(8, Executors.callable(station.port::close)));
            for (var closing : closings) {
                closing.get(); // throws the exception that close() has thrown
            }
            station.port.close();
            PortFixture.at(station.port.address()).close();
        }
    }

    @Test
    void shouldUseTheFirstFreeAddress() throws Exception {
        try (var taken = PortFixture.anywhere(sharesMemory);
                var closed = PortFixture.anywhere(sharesMemory)) {
            closed.port.close();
            try (var port =
                    Port.openFirst(
                            List.of(
                                    PortOptions.at(taken.port.address()),
                                    PortOptions.at(closed.port.address())))) {
                assertThat(port.address()).isEqualTo(closed.port.address());
            }
        }
    }

    @Test
    void shouldReportTheOwnerOfAnAddressInUse() throws Exception {
        try (var station = PortFixture.anywhere(sharesMemory)) {
            assertThatThrownBy(() -> PortFixture.at(station.port.address()))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining(station.port.address().toString())
                    .hasMessageContaining("EADDRINUSE")
                    .hasMessageContaining("this process");
        }
    }
}
