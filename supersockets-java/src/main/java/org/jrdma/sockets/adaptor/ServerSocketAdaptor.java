package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.util.Objects;
import java.util.Set;
import org.jrdma.sockets.channel.ListenerChannel;
import org.jspecify.annotations.Nullable;

/** A {@link ServerSocket} that uses a listening channel, with an accept timeout. */
class ServerSocketAdaptor extends ServerSocket {

    private final ListenerChannel channel;
    private final SocketOptionsAdaptor options;

    ServerSocketAdaptor(ListenerChannel channel) {
        super(new UnusedSocketImplementation());
        this.channel = channel;
        options = new SocketOptionsAdaptor(channel);
    }

    @Override
    public ServerSocketChannel getChannel() {
        return channel;
    }

    @Override
    public void bind(@Nullable SocketAddress address) throws IOException {
        bind(address, 0);
    }

    @Override
    public void bind(@Nullable SocketAddress address, int backlog) throws IOException {
        var requested = address == null ? new InetSocketAddress(0) : address;
        SocketOptionsAdaptor.call(() -> channel.bind(requested, backlog));
    }

    @Override
    public Socket accept() throws IOException {
        return SocketOptionsAdaptor.call(() -> {
            if (!channel.isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            return Objects.requireNonNull(channel.accept(options.deadline())).socket();
        });
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        var local = channel.lastLocalAddress();
        return local == null ? null : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        var local = channel.lastLocalAddress();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return channel.lastLocalAddress();
    }

    @Override
    public boolean isBound() {
        return channel.lastLocalAddress() != null;
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public void setSoTimeout(int timeout) throws SocketException {
        options.setTimeout(timeout);
    }

    @Override
    public int getSoTimeout() throws SocketException {
        return options.timeout();
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        options.set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return options.get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        options.setSize(StandardSocketOptions.SO_RCVBUF, size, "size cannot be 0 or negative");
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return options.get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    /** Returns the same text as the JDK's server sockets. */
    @Override
    public String toString() {
        return isBound()
                ? "ServerSocket[addr=%s,localport=%s]".formatted(getInetAddress(), getLocalPort())
                : "ServerSocket[unbound]";
    }
}
