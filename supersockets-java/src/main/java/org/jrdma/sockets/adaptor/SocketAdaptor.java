package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.util.Set;
import org.jrdma.sockets.channel.ChannelOption;
import org.jrdma.sockets.channel.StreamChannel;
import org.jspecify.annotations.Nullable;

/** A {@link Socket} that uses a channel, with timeouts for connecting and reading. */
class SocketAdaptor extends Socket {

    private final StreamChannel channel;
    private final SocketOptionsAdaptor options;

    SocketAdaptor(StreamChannel channel) throws SocketException {
        super(new UnusedSocketImplementation());
        this.channel = channel;
        options = new SocketOptionsAdaptor(channel);
    }

    static SocketAdaptor of(StreamChannel channel) {
        try {
            return new SocketAdaptor(channel);
        } catch (SocketException e) {
            throw new AssertionError("The constructor of Socket does not throw", e);
        }
    }

    @Override
    public SocketChannel getChannel() {
        return channel;
    }

    @Override
    public void connect(SocketAddress address) throws IOException {
        connect(address, 0);
    }

    @Override
    public void connect(@Nullable SocketAddress address, int timeout) throws IOException {
        if (address == null) {
            throw new IllegalArgumentException("connect: The address can't be null");
        }
        if (timeout < 0) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        if (address instanceof InetSocketAddress internet && internet.isUnresolved()) {
            options.ensureOpen();
            if (isConnected()) {
                throw new SocketException("Already connected");
            }
            close();
            throw new UnknownHostException(address.toString());
        }
        SocketOptionsAdaptor.call(() -> {
            if (!channel.isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            return channel.connect(address, SocketOptionsAdaptor.deadline(timeout));
        });
    }

    @Override
    public void bind(SocketAddress address) throws IOException {
        SocketOptionsAdaptor.call(() -> channel.bind(address));
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        var remote = channel.lastRemoteAddress();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        var local = channel.isOpen() ? channel.lastLocalAddress() : null;
        return local == null ? new InetSocketAddress(0).getAddress() : local.getAddress();
    }

    @Override
    public int getPort() {
        var remote = channel.lastRemoteAddress();
        return remote == null ? 0 : remote.getPort();
    }

    @Override
    public int getLocalPort() {
        var local = channel.lastLocalAddress();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return channel.lastRemoteAddress();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return channel.lastLocalAddress();
    }

    @Override
    public InputStream getInputStream() throws IOException {
        ensureConnected();
        if (isInputShutdown()) {
            throw new SocketException("Socket input is shutdown");
        }
        return new SocketInput(channel, options::deadline);
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        ensureConnected();
        if (isOutputShutdown()) {
            throw new SocketException("Socket output is shutdown");
        }
        return new SocketOutput(channel);
    }

    private void ensureConnected() throws SocketException {
        options.ensureOpen();
        if (!isConnected()) {
            throw new SocketException("Socket is not connected");
        }
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
    public void setTcpNoDelay(boolean on) throws SocketException {
        options.set(StandardSocketOptions.TCP_NODELAY, on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return options.get(StandardSocketOptions.TCP_NODELAY);
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        options.set(StandardSocketOptions.SO_LINGER, on ? seconds : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return options.get(StandardSocketOptions.SO_LINGER);
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        channel.writeOutOfBand(data);
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        options.set(ChannelOption.URGENT_INLINE, on);
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        return options.get(ChannelOption.URGENT_INLINE);
    }

    @Override
    public void setSendBufferSize(int size) throws SocketException {
        options.setSize(StandardSocketOptions.SO_SNDBUF, size, "Invalid send size");
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return options.get(StandardSocketOptions.SO_SNDBUF);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        options.setSize(StandardSocketOptions.SO_RCVBUF, size, "Invalid receive size");
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return options.get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        options.set(StandardSocketOptions.SO_KEEPALIVE, on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return options.get(StandardSocketOptions.SO_KEEPALIVE);
    }

    @Override
    public void setTrafficClass(int trafficClass) throws SocketException {
        options.set(StandardSocketOptions.IP_TOS, trafficClass);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return options.get(StandardSocketOptions.IP_TOS);
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
    public <T> Socket setOption(SocketOption<T> name, T value) throws IOException {
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

    @Override
    public void shutdownInput() throws IOException {
        SocketOptionsAdaptor.call(channel::shutdownInput);
    }

    @Override
    public void shutdownOutput() throws IOException {
        SocketOptionsAdaptor.call(channel::shutdownOutput);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public boolean isConnected() {
        return channel.isConnected();
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
    public boolean isInputShutdown() {
        return channel.isInputShut();
    }

    @Override
    public boolean isOutputShutdown() {
        return channel.isOutputShut();
    }

    /** Returns the same text as the JDK's sockets. */
    @Override
    public String toString() {
        return isConnected()
                ? "Socket[addr=%s,port=%s,localport=%s]"
                        .formatted(getInetAddress(), getPort(), getLocalPort())
                : "Socket[unconnected]";
    }
}
