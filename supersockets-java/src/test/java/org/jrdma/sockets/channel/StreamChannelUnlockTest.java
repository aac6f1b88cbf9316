package org.jrdma.sockets.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.jrdma.ffi.Deadline;
import org.jrdma.sockets.FabricSelectorProvider;
import org.jrdma.sockets.Tasks;
import org.jrdma.sockets.Transports;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.Waiting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class StreamChannelUnlockTest {

    /** Fails when the channel is closed. */
    private static final class FailingWaiting implements Waiting {

        @Override
        public boolean await(Deadline deadline) {
            return false;
        }

        @Override
        public void end() {
            throw new StackOverflowError("of the test");
        }
    }

    @Test
    void shouldUnlockTheInputIfAReadCannotStart() throws Exception {
        assertUnlocks(
                ChannelDescriptor::input, channel -> () -> channel.read(ByteBuffer.allocate(1)));
    }

    @Test
    void shouldUnlockTheOutputIfAWriteCannotStart() throws Exception {
        assertUnlocks(
                ChannelDescriptor::output, channel -> () -> channel.write(ByteBuffer.allocate(1)));
    }

    /** Starts an operation on an interrupted thread; the close by the interrupt throws an error. */
    private static void assertUnlocks(
            Function<ChannelDescriptor, DirectionGuard> direction,
            Function<StreamChannel, Callable<Integer>> operation)
            throws Exception {
        try (var listener =
                        ServerSocketChannel.open()
                                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                var channel =
                        (StreamChannel)
                                new FabricSelectorProvider(List.of(Transports.tcp()))
                                        .openSocketChannel()) {
            channel.connect(listener.getLocalAddress());
            direction.apply(channel.endpoint()).waitBy(new FailingWaiting());
            var call = operation.apply(channel);

            var failing =
                    Tasks.start(() -> {
                        Thread.currentThread().interrupt();
                        return call.call();
                    });

            assertThatThrownBy(failing::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(StackOverflowError.class);
            var next = Tasks.start(call);
            assertThatThrownBy(next::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(ClosedChannelException.class);
            assertThat(SocketCalls.close(channel.endpoint().descriptor())).isZero();
        }
    }
}
