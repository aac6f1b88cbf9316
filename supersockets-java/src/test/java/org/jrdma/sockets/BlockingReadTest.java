package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.CompletableFuture;
import org.jrdma.sockets.Tasks.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests reads into direct buffers, for which a thread may wait in the system call itself. */
@ParameterizedClass
@MethodSource("org.jrdma.sockets.Implementation#offered")
@Timeout(30)
class BlockingReadTest {

    private static final int ROUNDS = 500;

    @Parameter private Implementation implementation;

    private static int readOne(ChannelPair pair) throws Exception {
        return pair.client().read(ByteBuffer.allocateDirect(1));
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndWhenTheChannelIsClosed(Kind kind) throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var reader = Tasks.start(kind, () -> readOne(pair)).awaitWaiting();

            pair.client().close();

            assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndWhenTheThreadIsInterrupted(Kind kind) throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var reader = Tasks.start(kind, () -> readOne(pair)).awaitWaiting();

            reader.thread().interrupt();

            assertThat(reader.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
            assertThat(pair.client().isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndWhenTheInputIsShutDown(Kind kind) throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var reader = Tasks.start(kind, () -> readOne(pair)).awaitWaiting();

            pair.client().shutdownInput();
            if (implementation.differsIn(Difference.SHUTDOWN_DOES_NOT_WAKE_WAITING_THREADS)) {
                pair.server().close();
            }

            assertThat(reader.get()).isEqualTo(-1);
        }
    }

    /** The close can happen before, during or after the start of the wait. */
    @Test
    void shouldEndWheneverTheChannelIsClosed() throws Exception {
        for (var round = 0; round < ROUNDS / 10; round++) {
            try (var pair = ChannelPair.open(implementation)) {
                var starts = new CompletableFuture<Void>();
                var reader =
                        Tasks.start(
                                Kind.PLATFORM,
                                () -> {
                                    starts.complete(null);
                                    return readOne(pair);
                                });
                starts.join();
                for (var spins = 0; spins < round * 200; spins++) {
                    Thread.onSpinWait();
                }

                pair.client().close();

                assertThat(reader.failure()).isNotNull();
            }
        }
    }

    @Test
    void shouldNotWaitInNonBlockingModeAfterABlockingRead() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var reader = Tasks.start(Kind.PLATFORM, () -> readOne(pair)).awaitWaiting();
            pair.server().write(TestBytes.of("a"));
            assertThat(reader.get()).isEqualTo(1);

            pair.client().configureBlocking(false);

            assertThat(readOne(pair)).isZero();
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isZero();
            pair.client().setOption(StandardSocketOptions.SO_SNDBUF, 4096);
            var many = ByteBuffer.allocateDirect(1 << 20);
            while (pair.client().write(many.clear()) > 0) {
                // The loop ends when the buffers of both ends are full.
            }
        }
    }

    @Test
    void shouldTimeOutAfterABlockingRead() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            pair.server().write(TestBytes.of("a"));
            assertThat(readOne(pair)).isEqualTo(1);
            var socket = pair.client().socket();

            socket.setSoTimeout(50);

            assertThatExceptionOfType(SocketTimeoutException.class)
                    .isThrownBy(() -> socket.getInputStream().read());
        }
    }

    @Test
    void shouldTransferAllBytesInBothDirections() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var echo =
                    Tasks.start(
                            Kind.PLATFORM,
                            () -> {
                                var buffer = ByteBuffer.allocateDirect(1000);
                                var total = 0L;
                                while (pair.server().read(buffer.clear()) > 0) {
                                    total += buffer.flip().remaining();
                                    while (buffer.hasRemaining()) {
                                        pair.server().write(buffer);
                                    }
                                }
                                return total;
                            });
            var buffer = ByteBuffer.allocateDirect(Integer.BYTES);
            for (var round = 0; round < ROUNDS; round++) {
                pair.client().write(buffer.clear().putInt(round).flip());
                buffer.clear();
                while (buffer.hasRemaining()) {
                    assertThat(pair.client().read(buffer)).isPositive();
                }
                assertThat(buffer.flip().getInt()).isEqualTo(round);
            }
            pair.client().shutdownOutput();

            assertThat(echo.get()).isEqualTo((long) ROUNDS * Integer.BYTES);
        }
    }
}
