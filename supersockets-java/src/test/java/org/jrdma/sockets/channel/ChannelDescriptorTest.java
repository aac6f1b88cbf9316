package org.jrdma.sockets.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.sockets.Tasks;
import org.jrdma.sockets.internal.SocketCalls;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ChannelDescriptorTest {

    @Test
    void shouldCloseItsDescriptorIfASelectorIsClosedMeanwhile() throws Exception {
        var descriptor = openSocket();
        var epoll = LinuxCalls.epollCreate();
        try (var channel = SocketChannel.open()) {
            var endpoint = new ChannelDescriptor(channel, descriptor);
            var registration = new EpollRegistration(epoll, 1, () -> {});
            endpoint.register(registration, LinuxCalls.EPOLLIN);
            assertThat(endpoint.enter()).isTrue();
            var closing =
                    Tasks.start(
                                    () -> {
                                        endpoint.close();
                                        return true;
                                    })
                            .awaitWaiting();

            endpoint.register(registration, 0);
            SocketCalls.close(epoll);
            endpoint.leave();

            assertThat(closing.get()).isTrue();
            assertThat(SocketCalls.close(descriptor)).isEqualTo(-Errno.EBADF);
            assertThat(endpoint.enter()).isFalse();
        }
    }

    @Test
    void shouldCloseTheNewSocketIfTheChannelIsClosedBeforeTheExchange() throws Exception {
        var channel = SocketChannel.open();
        var endpoint = new ChannelDescriptor(channel, openSocket());
        var other = openSocket();
        channel.close();

        assertThatThrownBy(() -> endpoint.replace(other))
                .isInstanceOf(ClosedChannelException.class);

        assertThat(SocketCalls.close(other)).isEqualTo(-Errno.EBADF);
        endpoint.close();
    }

    private static int openSocket() {
        return SocketCalls.socket(SocketCalls.AF_INET, SocketCalls.SOCK_STREAM, 0);
    }
}
