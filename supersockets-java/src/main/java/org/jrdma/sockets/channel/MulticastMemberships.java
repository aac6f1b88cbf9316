package org.jrdma.sockets.channel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import java.nio.channels.MulticastChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jrdma.abi.rdma.sockaddr_storage;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jspecify.annotations.Nullable;

/** The multicast memberships of a datagram channel. */
public final class MulticastMemberships {

    private static final int IPPROTO_IP = 0;
    private static final int IPPROTO_IPV6 = 41;
    private static final int MCAST_JOIN_GROUP = 42;
    private static final int MCAST_BLOCK_SOURCE = 43;
    private static final int MCAST_UNBLOCK_SOURCE = 44;
    private static final int MCAST_LEAVE_GROUP = 45;
    private static final int MCAST_JOIN_SOURCE_GROUP = 46;
    private static final int MCAST_LEAVE_SOURCE_GROUP = 47;

    /**
     * The offset of the group address in {@code struct group_req}. The index of the interface
     * precedes it.
     */
    private static final long GROUP = 8;

    private static final long SOURCE = GROUP + sockaddr_storage.sizeof();

    private final DatagramChannel channel;
    private final ChannelDescriptor endpoint;
    private final InternetFamily family;
    private final List<Key> keys = new ArrayList<>();

    MulticastMemberships(
            DatagramChannel channel, ChannelDescriptor endpoint, InternetFamily family) {
        this.channel = channel;
        this.endpoint = endpoint;
        this.family = family;
    }

    /**
     * Joins a multicast group. If {@code source} is not null, joins the group only for the
     * datagrams of that source. If the channel is a member already, returns the existing key.
     */
    MembershipKey join(
            InetAddress group, NetworkInterface networkInterface, @Nullable InetAddress source)
            throws IOException {
        Objects.requireNonNull(networkInterface);
        if (!group.isMulticastAddress()) {
            throw new IllegalArgumentException("Group not a multicast address");
        }
        if (!family.isIpv6() && !(group instanceof Inet4Address)) {
            throw new UnsupportedOperationException("An IPv6 group requires an IPv6 channel");
        }
        if (source != null) {
            checkSource(group, source);
        }
        return endpoint.call(() -> {
            for (var key : keys) {
                if (key.group.equals(group) && key.networkInterface.equals(networkInterface)) {
                    if ((key.source == null) != (source == null)) {
                        throw new IllegalStateException(
                                "Already a member of the group, with a different source filter");
                    }
                    if (Objects.equals(key.source, source)) {
                        return key;
                    }
                }
            }
            var key = new Key(group, networkInterface, source);
            key.set(source == null ? MCAST_JOIN_GROUP : MCAST_JOIN_SOURCE_GROUP, source);
            keys.add(key);
            return key;
        });
    }

    private static void checkSource(InetAddress group, InetAddress source) {
        if (source.isAnyLocalAddress()) {
            throw new IllegalArgumentException("Source address is a wildcard address");
        }
        if (source.isMulticastAddress()) {
            throw new IllegalArgumentException("Source address is multicast address");
        }
        if (source.getClass() != group.getClass()) {
            throw new IllegalArgumentException("Source address is different type to group");
        }
    }

    /** Makes all keys invalid, because the channel is closed. */
    void forget() {
        for (var key : keys) {
            key.valid = false;
        }
    }

    private final class Key extends MembershipKey {

        private final InetAddress group;
        private final NetworkInterface networkInterface;
        private final @Nullable InetAddress source;
        private final Set<InetAddress> blocked = new HashSet<>();
        private volatile boolean valid = true;

        Key(InetAddress group, NetworkInterface networkInterface, @Nullable InetAddress source) {
            this.group = group;
            this.networkInterface = networkInterface;
            this.source = source;
        }

        @Override
        public boolean isValid() {
            return valid;
        }

        @Override
        public void drop() {
            try {
                endpoint.call(() -> {
                    if (valid) {
                        valid = false;
                        keys.remove(this);
                        set(source == null ? MCAST_LEAVE_GROUP : MCAST_LEAVE_SOURCE_GROUP, source);
                    }
                    return null;
                });
            } catch (ClosedChannelException _) {
                valid = false; // The membership has ended with the channel.
            } catch (IOException e) {
                throw new AssertionError("Could not leave a multicast group", e);
            }
        }

        @Override
        public MembershipKey block(InetAddress sender) throws IOException {
            checkSourcesCanBeBlocked();
            checkSource(group, sender);
            endpoint.call(() -> {
                if (!blocked.contains(sender)) {
                    set(MCAST_BLOCK_SOURCE, sender);
                    blocked.add(sender);
                }
                return null;
            });
            return this;
        }

        @Override
        public MembershipKey unblock(InetAddress sender) {
            checkSourcesCanBeBlocked();
            try {
                endpoint.call(() -> {
                    if (!blocked.remove(sender)) {
                        throw new IllegalStateException("not blocked");
                    }
                    set(MCAST_UNBLOCK_SOURCE, sender);
                    return null;
                });
            } catch (IOException e) {
                throw new IllegalStateException("key is invalid", e);
            }
            return this;
        }

        private void checkSourcesCanBeBlocked() {
            if (!valid) {
                throw new IllegalStateException("key is no longer valid");
            }
            if (source != null) {
                throw new IllegalStateException("key is source-specific");
            }
        }

        /**
         * Sets a socket option that joins or leaves a group. Must be called within {@link
         * ChannelDescriptor#call}. For an IPv4 group, an IPv6 socket also uses the option of IPv4.
         */
        private void set(int option, @Nullable InetAddress sender) throws IOException {
            var kind = group instanceof Inet4Address ? InternetFamily.IPV4 : InternetFamily.IPV6;
            var level = kind == InternetFamily.IPV4 ? IPPROTO_IP : IPPROTO_IPV6;
            try (var arena = Arena.ofConfined()) {
                var bytes = sender == null ? SOURCE : SOURCE + sockaddr_storage.sizeof();
                var request = arena.allocate(bytes, Long.BYTES);
                request.set(JAVA_INT, 0, networkInterface.getIndex());
                kind.write(
                        new InetSocketAddress(group, 0),
                        request.asSlice(GROUP, sockaddr_storage.sizeof()));
                if (sender != null) {
                    kind.write(new InetSocketAddress(sender, 0), request.asSlice(SOURCE));
                }
                SocketFailure.check(
                        SocketCalls.setOption(endpoint.descriptor(), level, option, request));
            }
        }

        @Override
        public MulticastChannel channel() {
            return channel;
        }

        @Override
        public InetAddress group() {
            return group;
        }

        @Override
        public NetworkInterface networkInterface() {
            return networkInterface;
        }

        @Override
        public @Nullable InetAddress sourceAddress() {
            return source;
        }

        /** Returns the group, the interface and the source. */
        @Override
        public String toString() {
            return "<%s,%s,%s>"
                    .formatted(
                            group.getHostAddress(),
                            networkInterface.getName(),
                            source == null ? "any" : source.getHostAddress());
        }
    }
}
