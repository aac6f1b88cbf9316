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

/** The groups that a channel for datagrams is a member of. */
public final class MulticastMemberships {

    private static final int IPPROTO_IP = 0;
    private static final int IPPROTO_IPV6 = 41;
    private static final int MCAST_JOIN_GROUP = 42;
    private static final int MCAST_BLOCK_SOURCE = 43;
    private static final int MCAST_UNBLOCK_SOURCE = 44;
    private static final int MCAST_LEAVE_GROUP = 45;
    private static final int MCAST_JOIN_SOURCE_GROUP = 46;
    private static final int MCAST_LEAVE_SOURCE_GROUP = 47;

    /** In C: {@code struct group_req} is the number of the interface and an aligned address. */
    private static final long GROUP = 8;

    private static final long SOURCE = GROUP + sockaddr_storage.sizeof();

    private final DatagramChannel channel;
    private final Endpoint endpoint;
    private final InternetFamily family;
    private final List<Key> keys = new ArrayList<>();

    MulticastMemberships(DatagramChannel channel, Endpoint endpoint, InternetFamily family) {
        this.channel = channel;
        this.endpoint = endpoint;
        this.family = family;
    }

    /** Joins a group, or what one source sends to it; the key that there is if it has done so. */
    MembershipKey join(InetAddress group, NetworkInterface on, @Nullable InetAddress source)
            throws IOException {
        Objects.requireNonNull(on);
        if (!group.isMulticastAddress()) {
            throw new IllegalArgumentException("Group not a multicast address");
        }
        if (!family.isIpv6() && !(group instanceof Inet4Address)) {
            throw new UnsupportedOperationException("IPv6 groups need a channel for IPv6");
        }
        if (source != null) {
            refuseSource(group, source);
        }
        return endpoint.call(() -> {
            for (var key : keys) {
                if (key.group.equals(group) && key.on.equals(on)) {
                    if ((key.source == null) != (source == null)) {
                        throw new IllegalStateException("Already a member, otherwise");
                    }
                    if (Objects.equals(key.source, source)) {
                        return key;
                    }
                }
            }
            var key = new Key(group, on, source);
            key.set(source == null ? MCAST_JOIN_GROUP : MCAST_JOIN_SOURCE_GROUP, source);
            keys.add(key);
            return key;
        });
    }

    private static void refuseSource(InetAddress group, InetAddress source) {
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

    /** The channel is closed, and with it all memberships. */
    void forget() {
        for (var key : keys) {
            key.valid = false;
        }
    }

    /** One of them. */
    private final class Key extends MembershipKey {

        private final InetAddress group;
        private final NetworkInterface on;
        private final @Nullable InetAddress source;
        private final Set<InetAddress> blocked = new HashSet<>();
        private volatile boolean valid = true;

        Key(InetAddress group, NetworkInterface on, @Nullable InetAddress source) {
            this.group = group;
            this.on = on;
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
                valid = false; // it ended with the channel
            } catch (IOException e) {
                throw new AssertionError("a membership that there is cannot be left", e);
            }
        }

        @Override
        public MembershipKey block(InetAddress sender) throws IOException {
            refuseBlocking();
            refuseSource(group, sender);
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
            refuseBlocking();
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

        private void refuseBlocking() {
            if (!valid) {
                throw new IllegalStateException("key is no longer valid");
            }
            if (source != null) {
                throw new IllegalStateException("key is source-specific");
            }
        }

        /** Within a call of the endpoint's. A group of IPv4 is joined as such by IPv6 too. */
        private void set(int option, @Nullable InetAddress sender) throws IOException {
            var kind = group instanceof Inet4Address ? InternetFamily.IPV4 : InternetFamily.IPV6;
            var level = kind == InternetFamily.IPV4 ? IPPROTO_IP : IPPROTO_IPV6;
            try (var arena = Arena.ofConfined()) {
                var bytes = sender == null ? SOURCE : SOURCE + sockaddr_storage.sizeof();
                var request = arena.allocate(bytes, Long.BYTES);
                request.set(JAVA_INT, 0, on.getIndex());
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
            return on;
        }

        @Override
        public @Nullable InetAddress sourceAddress() {
            return source;
        }

        /** The group, the interface and the source. */
        @Override
        public String toString() {
            return "<%s,%s,%s>"
                    .formatted(
                            group.getHostAddress(),
                            on.getName(),
                            source == null ? "any" : source.getHostAddress());
        }
    }
}
