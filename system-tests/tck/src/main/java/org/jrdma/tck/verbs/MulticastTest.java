package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.tck.verbs.DatagramSide.HEADER;
import static org.jrdma.tck.verbs.DatagramSide.QUEUE_KEY;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.MulticastSocket;
import java.net.NetworkInterface;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests multicast datagrams. They must reach all members of a group, including members on the host
 * of the sender.
 */
class MulticastTest {

    private Device device;

    @BeforeEach
    void open() throws VerbsException {
        Fabric.underTest().needs(Feature.DATAGRAMS);
        device = Fabric.underTest().open();
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    @Test
    void shouldReachAllMembersOfAGroupForEachAddressFamilyOfThePort() throws Exception {
        var reached = new HashSet<Boolean>();
        for (var from : device.gids(1)) {
            if (reached.add(from.gid().isIpv4())) {
                assertReachesAllMembers(from.gid().isIpv4() ? "239.1.2.3" : "ff15::1234", from);
            }
        }
        assertThat(reached).isNotEmpty();
    }

    private void assertReachesAllMembers(String address, GidEntry from) throws Exception {
        var group = Gid.of(InetAddress.getByName(address));
        var sender = sideAt(from);
        var first = sideAt(from);
        var second = sideAt(from);
        var nonMember = sideAt(from);
        first.queuePair().attachMulticast(group, 0);
        second.queuePair().attachMulticast(group, 0);
        for (var side : List.of(first, second, nonMember)) {
            side.receive(0, 64);
            side.receive(1, 64);
        }
        var send =
                sender.queuePair()
                        .prepareSend(
                                sender.region().slice(0, 15),
                                new Destination(
                                        sender.domain()
                                                .newAddressHandle(
                                                        sender.queuePair().addressOf(group, 0)),
                                        Destination.MULTICAST,
                                        QUEUE_KEY));
        sender.region().segment().setString(0, "Saluton, mondo");

        try (var member = joined(address, from)) {
            assertThat(member.isClosed()).isFalse();
            assertThat(sender.complete(send.immediate(1)).isSuccess()).isTrue();
            for (var side : List.of(first, second)) {
                var received = side.next();
                assertThat(received.bytes()).isEqualTo(HEADER + 15);
                assertThat(received.source().orElseThrow().queuePairNumber())
                        .isEqualTo(sender.queuePair().number());
                assertThat(side.message(0, 64).getString(0)).isEqualTo("Saluton, mondo");
                var header = GlobalRouteHeader.of(side.place(0, 64).segment());
                assertThat(header.destination()).isEqualTo(group);
                assertThat(header.source()).isEqualTo(from.gid());
                assertThatThrownBy(() -> side.queuePair().addressOf(received, side.place(0, 64)))
                        .as("a reply whose source would be the address of the group")
                        .isInstanceOf(VerbsException.class)
                        .hasMessageContaining("ibv_init_ah_from_wc");
            }
            second.queuePair().detachMulticast(group, 0);
            assertThat(sender.complete(send.immediate(2)).isSuccess()).isTrue();
            assertThat(first.next().immediate()).hasValue(2);
        }
        assertThat(second.cursor().poll()).isZero();
        assertThat(nonMember.cursor().poll()).isZero();
    }

    @Test
    void shouldLeaveItsGroupsWhenItIsClosed() throws Exception {
        var group = Gid.of(InetAddress.getByName("239.1.2.4"));
        var results = new ConcurrentLinkedQueue<Integer>();
        try (var recordingDevice = FaultyLibraries.notingDestroyed(results)) {
            var side = DatagramSide.active(recordingDevice);
            side.queuePair().attachMulticast(group, 0);
            side.queuePair().attachMulticast(group, 0);

            side.queuePair().close();

            assertThat(results).as("results of ibv_destroy_qp").containsExactly(0);
            assertThatThrownBy(() -> side.queuePair().attachMulticast(group, 0))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldRefuseToLeaveAGroupThatItIsNotIn() throws Exception {
        var group = Gid.of(InetAddress.getByName("239.1.2.5"));
        var side = DatagramSide.active(device);

        assertThatThrownBy(() -> side.queuePair().detachMulticast(group, 0))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_detach_mcast failed for queue pair")
                .hasMessageContaining("group ::ffff:239.1.2.5")
                .hasMessageContaining("EINVAL");
    }

    private DatagramSide sideAt(GidEntry entry) throws VerbsException {
        return DatagramSide.active(device, options -> options.gidIndex(entry.index()));
    }

    /**
     * Joins the group with a socket, so that the network interface receives the packets of the
     * group. Attaching a queue pair to the group does not make the interface receive them.
     */
    private static MulticastSocket joined(String group, GidEntry entry) throws Exception {
        var member = new MulticastSocket(0);
        member.joinGroup(
                new InetSocketAddress(InetAddress.getByName(group), 0),
                NetworkInterface.getByName(entry.netDevice()));
        return member;
    }
}
