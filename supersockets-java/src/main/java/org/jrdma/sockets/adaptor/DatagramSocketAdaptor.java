package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.sockets.channel.UdpDatagramChannel;
import org.jspecify.annotations.Nullable;

/** A {@link DatagramSocket} that uses a datagram channel, with a receive timeout. */
final class DatagramSocketAdaptor extends DatagramSocket {

    private final UdpDatagramChannel channel;
    private final Map<Group, MembershipKey> memberships = new ConcurrentHashMap<>();
    private final SocketOptionsAdaptor options;

    /**
     * The size of the last datagram that was received into each packet. It is needed if the program
     * receives into the same packet again.
     */
    private final Map<DatagramPacket, Received> received =
            Collections.synchronizedMap(new WeakHashMap<>());

    private record Received(int length, int capacity) {}

    private record Group(InetAddress address, @Nullable NetworkInterface netIf) {}

    DatagramSocketAdaptor(UdpDatagramChannel channel) {
        super(new UnusedDatagramImplementation());
        this.channel = channel;
        options = new SocketOptionsAdaptor(channel);
    }

    @Override
    public DatagramChannel getChannel() {
        return channel;
    }

    @Override
    public void bind(@Nullable SocketAddress address) throws SocketException {
        SocketOptionsAdaptor.callAsSocket(
                () -> channel.bind(address == null ? new InetSocketAddress(0) : address));
    }

    @Override
    public void connect(InetAddress address, int port) {
        try {
            connect(new InetSocketAddress(address, port));
        } catch (SocketException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void connect(SocketAddress address) throws SocketException {
        if (address == null) {
            throw new IllegalArgumentException("Address can't be null");
        }
        SocketOptionsAdaptor.callAsSocket(() -> {
            if (channel.isConnected()) {
                channel.disconnect();
            }
            return channel.connect(address);
        });
    }

    @Override
    public void disconnect() {
        try {
            channel.disconnect();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean isBound() {
        return channel.lastLocalAddress() != null;
    }

    @Override
    public boolean isConnected() {
        return channel.lastRemoteAddress() != null;
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        var remote = channel.lastRemoteAddress();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public int getPort() {
        var remote = channel.lastRemoteAddress();
        return remote == null ? -1 : remote.getPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return channel.lastRemoteAddress();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return isClosed() ? null : channel.lastLocalAddress();
    }

    @Override
    public @Nullable InetAddress getLocalAddress() {
        if (isClosed()) {
            return null;
        }
        var local = channel.lastLocalAddress();
        return local == null ? new InetSocketAddress(0).getAddress() : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        var local = channel.lastLocalAddress();
        return isClosed() ? -1 : local == null ? 0 : local.getPort();
    }

    @Override
    public void send(DatagramPacket packet) throws IOException {
        SocketOptionsAdaptor.call(() -> {
            synchronized (packet) {
                var peer = channel.lastRemoteAddress();
                if (packet.getAddress() == null) {
                    if (peer == null) {
                        throw new IllegalArgumentException("Address not set");
                    }
                    packet.setSocketAddress(peer);
                } else if (peer != null && !peer.equals(packet.getSocketAddress())) {
                    throw new IllegalArgumentException("Connected and packet address differ");
                }
                channel.sendBlocking(
                        ByteBuffer.wrap(packet.getData(), packet.getOffset(), packet.getLength()),
                        (InetSocketAddress) packet.getSocketAddress());
            }
            return null;
        });
    }

    @Override
    public void receive(DatagramPacket packet) throws IOException {
        SocketOptionsAdaptor.call(() -> {
            synchronized (packet) {
                var capacity = capacity(packet);
                var target = ByteBuffer.wrap(packet.getData(), packet.getOffset(), capacity);
                var sender = channel.receiveBlocking(target, options.deadline());
                packet.setSocketAddress(Objects.requireNonNull(sender));
                packet.setLength(target.position() - packet.getOffset());
                received.put(packet, new Received(packet.getLength(), capacity));
            }
            return null;
        });
    }

    /**
     * Returns the space in a packet for the next datagram. If the last datagram was shorter than
     * the packet, and the program has not changed the length of the packet since then, the whole
     * original space is available.
     */
    private int capacity(DatagramPacket packet) {
        var before = received.get(packet);
        var capacity =
                before != null && before.length == packet.getLength()
                        ? before.capacity
                        : packet.getLength();
        return Math.min(capacity, packet.getData().length - packet.getOffset());
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
    public void setReuseAddress(boolean on) throws SocketException {
        options.set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return options.get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void setBroadcast(boolean on) throws SocketException {
        options.set(StandardSocketOptions.SO_BROADCAST, on);
    }

    @Override
    public boolean getBroadcast() throws SocketException {
        return options.get(StandardSocketOptions.SO_BROADCAST);
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
    public <T> DatagramSocket setOption(SocketOption<T> name, T value) throws IOException {
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
    public void joinGroup(SocketAddress group, @Nullable NetworkInterface netIf)
            throws IOException {
        var address = groupAddress(group);
        var key = new Group(address, netIf);
        if (memberships.containsKey(key)) {
            throw new SocketException("Already a member of group");
        }
        memberships.put(
                key, SocketOptionsAdaptor.call(() -> channel.join(address, interfaceFor(netIf))));
    }

    @Override
    public void leaveGroup(SocketAddress group, @Nullable NetworkInterface netIf)
            throws IOException {
        var membership = memberships.remove(new Group(groupAddress(group), netIf));
        if (membership == null) {
            throw new SocketException("Not a member of group");
        }
        membership.drop();
    }

    private static InetAddress groupAddress(SocketAddress group) throws SocketException {
        if (!(group instanceof InetSocketAddress internet)) {
            throw new IllegalArgumentException("Unsupported address type");
        }
        if (!internet.getAddress().isMulticastAddress()) {
            throw new SocketException("Not a multicast address");
        }
        return internet.getAddress();
    }

    /**
     * Returns the interface for joining a group: {@code netIf} unless it is null, otherwise the
     * interface of IP_MULTICAST_IF, otherwise the first one that supports multicast.
     */
    private NetworkInterface interfaceFor(@Nullable NetworkInterface netIf) throws IOException {
        if (netIf != null) {
            return netIf;
        }
        var chosen = channel.getOption(StandardSocketOptions.IP_MULTICAST_IF);
        if (chosen != null) {
            return chosen;
        }
        for (var each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            if (each.isUp() && each.supportsMulticast()) {
                return each;
            }
        }
        throw new SocketException("No network interface is up and supports multicast");
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }
}
