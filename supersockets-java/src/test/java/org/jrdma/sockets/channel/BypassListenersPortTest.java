package org.jrdma.sockets.channel;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.FabricSelectorProvider;
import org.jrdma.sockets.OpenConnections;
import org.jrdma.sockets.Transports;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.bypass.LazyBinding;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.transport.BypassTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which port a listener uses if ports are in use for some of its transports. */
@Timeout(30)
class BypassListenersPortTest {

    private static final int MAX_ATTEMPTS = 16;

    private final Busy busy = new Busy(Errno.EADDRINUSE);

    /**
     * A transport without kernel sockets whose first attempts to listen fail with a given error.
     */
    private static final class Busy implements BypassTransport {

        private final int errno;
        private final List<Integer> requestedPorts = new ArrayList<>();
        private final Set<Integer> open = new TreeSet<>();
        private int failures;

        Busy(int errno) {
            this.errno = errno;
        }

        Busy failing(int times) {
            failures = times;
            return this;
        }

        @Override
        public String name() {
            return "busy";
        }

        @Override
        public Optional<String> whyNot() {
            return Optional.empty();
        }

        @Override
        public BypassListener listen(InetSocketAddress address, int backlog, int receiveBuffer)
                throws FabricException {
            var port = address.getPort();
            requestedPorts.add(port);
            if (requestedPorts.size() <= failures) {
                throw new FabricException("no port " + requestedPorts.size(), errno, null);
            }
            open.add(port);
            return new Listener(port);
        }

        @Override
        public BypassConnector connect(
                InetSocketAddress address,
                int receiveBuffer,
                LazyBinding binding,
                Consumer<String> refused) {
            throw new AssertionError(address);
        }

        @Override
        public String toString() {
            return name();
        }

        /** A listener without clients. */
        private final class Listener extends BypassListener {

            private final int port;

            Listener(int port) {
                this.port = port;
            }

            @Override
            protected void release() {
                open.remove(port);
            }
        }
    }

    private static ServerSocketChannel listener(Transport... bypasses) throws Exception {
        var preferred = new ArrayList<>(List.of(bypasses));
        preferred.add(Transports.tcp());
        return new FabricSelectorProvider(preferred).openServerSocketChannel();
    }

    private static InetSocketAddress port(int number) {
        return new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), number);
    }

    private static String whyNotFaster(ServerSocketChannel listener) throws Exception {
        try (var _ = SocketChannel.open(listener.getLocalAddress());
                var accepted = listener.accept()) {
            return OpenConnections.of(accepted).whyNotFaster();
        }
    }

    private static int portOf(ServerSocketChannel listener) throws Exception {
        return ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    @Test
    void shouldChooseAPortThatIsFreeForAllTransports() throws Exception {
        var free = new Busy(Errno.EADDRINUSE);
        try (var listener = listener(free, busy.failing(3))) {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, 50_000);
            var size = listener.getOption(StandardSocketOptions.SO_RCVBUF);

            listener.bind(port(0));

            assertThat(busy.requestedPorts).hasSize(4).last().isEqualTo(portOf(listener));
            assertThat(busy.open).containsExactly(portOf(listener));
            assertThat(free.open).containsExactly(portOf(listener));
            assertThat(listener.getOption(StandardSocketOptions.SO_RCVBUF)).isEqualTo(size);
            assertThat(whyNotFaster(listener))
                    .isEqualTo(
                            "busy: the client did not connect over it; busy: the client did not connect over it");
        }
        assertThat(busy.open).isEmpty();
        assertThat(free.open).isEmpty();
    }

    @Test
    void shouldOmitATransportThatHasNoFreePort() throws Exception {
        try (var listener = listener(busy.failing(Integer.MAX_VALUE)).bind(port(0))) {
            assertThat(busy.requestedPorts)
                    .hasSize(MAX_ATTEMPTS)
                    .last()
                    .isEqualTo(portOf(listener));
            assertThat(whyNotFaster(listener)).isEqualTo("busy: no port " + MAX_ATTEMPTS);
        }
    }

    @Test
    void shouldKeepThePortThatTheProgramHasChosen() throws Exception {
        int chosenPort;
        try (var before = listener().bind(port(0))) {
            chosenPort = portOf(before);
        }
        try (var listener = listener(busy.failing(1)).bind(port(chosenPort))) {
            assertThat(busy.requestedPorts).containsExactly(chosenPort);
            assertThat(whyNotFaster(listener)).isEqualTo("busy: no port 1");
        }
    }

    @Test
    void shouldKeepThePortIfAnotherPortWouldNotHelp() throws Exception {
        var broken = new Busy(Errno.ENODEV).failing(1);
        try (var listener = listener(broken).bind(port(0))) {
            assertThat(broken.requestedPorts).containsExactly(portOf(listener));
            assertThat(whyNotFaster(listener)).isEqualTo("busy: no port 1");
        }
    }
}
