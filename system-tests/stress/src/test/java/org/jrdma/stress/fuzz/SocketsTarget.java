package org.jrdma.stress.fuzz;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.FabricSelectorProvider;
import org.jrdma.sockets.FabricServerSocketFactory;
import org.jrdma.sockets.FabricSocketFactory;
import org.jrdma.sockets.FabricSockets;
import org.jrdma.sockets.OpenConnections;
import org.jrdma.sockets.Transports;
import org.jrdma.sockets.model.Transport;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;

/** Runs the fuzzer on supersockets-java over one transport. */
final class SocketsTarget implements Target {

    /** The time within which an established connection must be in the accept queue. */
    private static final int ACCEPT_MILLIS = 30_000;

    private final String transport;
    private final InetAddress address;
    private final List<Transport> transports;
    private final FabricSelectorProvider provider;

    SocketsTarget(String transport, InetAddress address) throws IOException {
        this.transport = transport;
        this.address = address;
        this.transports = List.of(transport(transport), Transports.tcp());
        this.provider = new FabricSelectorProvider(transports);
    }

    private static Transport transport(String name) throws IOException {
        return switch (name) {
            case "tcp" -> Transports.tcp();
            case "rsocket" -> Transports.rsocket();
            case "smc" -> Transports.smc();
            case "supersockets" -> Transports.supersockets(file("2\n"));
            case "sisci-sockets" -> {
                var fabric = Path.of(System.getProperty("jrdma.sisci.fabric"));
                var node = new SoftSisci(SoftSisciOptions.in(fabric).node(4));
                yield Transports.sisci(Sisci.from(node), file(""));
            }
            default -> throw new IllegalArgumentException("Unknown target " + name);
        };
    }

    private static Path file(String content) throws IOException {
        var file = Files.createTempFile("fuzz", "");
        file.toFile().deleteOnExit();
        return Files.writeString(file, content);
    }

    @Override
    public List<Class<?>> modules() {
        return List.of(FabricException.class, FabricSockets.class);
    }

    @Override
    public InetAddress address() {
        return address;
    }

    @Override
    public boolean isRoot(Object object) {
        return object instanceof Selector;
    }

    @Override
    public void seed(Consumer<Object> keep) throws Exception {
        keep.accept(provider);
        transports.forEach(keep);
        var selector = provider.openSelector();
        keep.accept(selector);
        var server = provider.openServerSocketChannel();
        var client = provider.openSocketChannel();
        try {
            server.bind(new InetSocketAddress(address, 0));
            keep.accept(server.getLocalAddress());
            client.connect(server.getLocalAddress());
            var accepted = accept(server.socket()).getChannel();
            keep.accept(accepted);
            keep.accept(client.socket());
            accepted.configureBlocking(false);
            accepted.register(selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            accepted.write(ByteBuffer.allocate(100));
            var second =
                    FabricSockets.connect(
                            address.getHostAddress(),
                            ((InetSocketAddress) server.getLocalAddress()).getPort(),
                            transports,
                            Duration.ofSeconds(2));
            keep.accept(second);
            keep.accept(accept(server.socket()).getChannel());
        } finally {
            keep.accept(server);
            keep.accept(client);
        }
        var listener = new FabricServerSocketFactory(transports).createServerSocket(0, 5, address);
        try {
            var socket =
                    new FabricSocketFactory(transports)
                            .createSocket(address, listener.getLocalPort());
            socket.setSoTimeout(1);
            keep.accept(socket);
            keep.accept(socket.getInputStream());
            keep.accept(socket.getOutputStream());
            keep.accept(accept(listener));
        } finally {
            keep.accept(listener);
        }
        keep.accept(provider.openPipe());
        keep.accept(provider.openDatagramChannel().bind(new InetSocketAddress(address, 0)));
    }

    /**
     * Accepts a connection that was established before. Other threads must not use the listener
     * yet, because they could accept the connection.
     */
    private static Socket accept(ServerSocket listener) throws IOException {
        listener.setSoTimeout(ACCEPT_MILLIS);
        try {
            return listener.accept();
        } catch (SocketTimeoutException e) {
            throw new AssertionError("No connection arrived at " + listener, e);
        }
    }

    @Override
    public void verify() throws Exception {
        try (var server = FabricSockets.listen(new InetSocketAddress(address, 0), transports);
                var client = provider.openSocketChannel()) {
            client.connect(server.getLocalAddress());
            try (var accepted = server.accept()) {
                client.write(US_ASCII.encode("hello"));
                var buffer = ByteBuffer.allocate(5);
                while (buffer.hasRemaining()) {
                    Target.check(accepted.read(buffer) >= 0, "unexpected end");
                }
                Target.check(
                        US_ASCII.decode(buffer.flip()).toString().equals("hello"), "wrong bytes");
                var used = OpenConnections.of(client);
                Target.check(
                        (used.transport() + "-sockets").contains(transport), "fallback: " + used);
            }
        }
    }
}
