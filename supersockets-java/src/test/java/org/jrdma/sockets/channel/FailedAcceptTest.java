package org.jrdma.sockets.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jrdma.sockets.FabricSelectorProvider;
import org.jrdma.sockets.Transports;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.bypass.BypassStream;
import org.jrdma.sockets.bypass.LazyBinding;
import org.jrdma.sockets.transport.BypassTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class FailedAcceptTest {

    private boolean streamClosed;

    @Test
    void shouldCloseAConnectionForWhichItCannotCreateAChannel() throws Exception {
        var loopback = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);
        var provider = new FabricSelectorProvider(List.of(new Failing(), Transports.tcp()));
        try (var listener = provider.openServerSocketChannel().bind(loopback)) {
            assertThatThrownBy(listener::accept).isInstanceOf(StackOverflowError.class);

            assertThat(streamClosed).isTrue();
        }
    }

    /** A kernel bypass with one connection, which fails when a channel starts to use it. */
    private final class Failing implements BypassTransport {

        @Override
        public String name() {
            return "failing";
        }

        @Override
        public Optional<String> whyNot() {
            return Optional.empty();
        }

        @Override
        public long spinNanos() {
            throw new StackOverflowError("of the test");
        }

        @Override
        public BypassListener listen(InetSocketAddress address, int backlog, int receiveBuffer) {
            return new OneConnection(address);
        }

        @Override
        public BypassConnector connect(
                InetSocketAddress address,
                int receiveBuffer,
                LazyBinding binding,
                Consumer<String> refused) {
            throw new AssertionError(address);
        }
    }

    private final class OneConnection extends BypassListener {

        OneConnection(InetSocketAddress address) {
            enqueue(new Arrival(new IdleStream(), address, address));
        }

        @Override
        protected void release() {}
    }

    private final class IdleStream extends BypassStream {

        @Override
        public int ready() {
            return 0;
        }

        @Override
        protected void arm(int events, boolean parks) {}

        @Override
        public int receive(MemorySegment target, long maxBytes) {
            throw new AssertionError("receive");
        }

        @Override
        public int send(MemorySegment source, long bytes) {
            throw new AssertionError("send");
        }

        @Override
        public int available() {
            return 0;
        }

        @Override
        public void shutdownInput() {}

        @Override
        public void shutdownOutput() {}

        @Override
        public void close(boolean reset) {
            streamClosed = true;
        }
    }
}
