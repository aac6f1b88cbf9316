package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.cm.ConnectionEvent.MulticastJoined;
import org.jrdma.verbs.cm.EventChannel;
import org.jrdma.verbs.cm.Identifier;
import org.jrdma.verbs.cm.model.MulticastRole;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests multicast groups that an {@code Identifier} joins by IP address. */
class GroupMembershipTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.7.7.7");

    private final Fabric fabric = Fabric.underTest();
    private EventChannel channel;
    private Device device;
    private ProtectionDomain domain;
    private CompletionDispatcher completions;

    @BeforeEach
    void open() throws IOException {
        fabric.needs(Feature.DATAGRAMS);
        channel = fabric.connections().newEventChannel();
        device = fabric.open();
        domain = device.newProtectionDomain();
        completions = device.newCompletionDispatcher(64);
    }

    @AfterEach
    void close() {
        if (device != null) {
            channel.close();
            device.close();
        }
    }

    private Identifier bound(PortSpace portSpace) throws IOException {
        var identifier = channel.newIdentifier(portSpace);
        identifier.bind(new InetSocketAddress(Fabric.address(device), 0));
        return identifier;
    }

    private AsyncDatagramQueuePair queuePair(Identifier identifier) throws VerbsException {
        var queuePair =
                domain.newQueuePair(QueuePairOptions.datagrams(completions).sends(4).receives(4));
        queuePair.modify(identifier.queuePairChange(QueuePairState.INIT));
        queuePair.modify(QueuePairChange.to(QueuePairState.READY_TO_RECEIVE));
        queuePair.modify(QueuePairChange.to(QueuePairState.READY_TO_SEND).sendSequence(0));
        return queuePair;
    }

    private MulticastJoined joined(Identifier identifier) throws IOException {
        var event = channel.next(TIMEOUT);
        assertThat(event).isInstanceOf(MulticastJoined.class);
        assertThat(event.identifier()).isSameAs(identifier);
        return (MulticastJoined) event;
    }

    @Test
    void shouldReceiveMessagesFromASendOnlyMember() throws Exception {
        var member = bound(PortSpace.UDP);
        var sender = bound(PortSpace.UDP);
        member.joinMulticast(GROUP);
        var memberJoined = joined(member);
        sender.joinMulticast(GROUP, MulticastRole.SENDER);
        var senderJoined = joined(sender);
        assertThat(memberJoined.group()).isEqualTo(GROUP);
        var destination = senderJoined.parameters();
        assertThat(destination.queuePairNumber()).isEqualTo(Destination.MULTICAST);
        var gid = destination.address().route().orElseThrow().destination();
        assertThat(gid).isEqualTo(Gid.of(GROUP));
        var receiving = queuePair(member);
        receiving.attachMulticast(gid, destination.address().lid());
        try (var arena = domain.newArena(Pair.ALL);
                var handle = domain.newAddressHandle(destination.address())) {
            var memory = arena.region(512);
            var received = receiving.receive(memory.slice(256, 256));
            memory.segment().setString(0, "Saluton");

            queuePair(sender)
                    .send(
                            memory.slice(0, 8),
                            new Destination(
                                    handle, destination.queuePairNumber(), destination.queueKey()))
                    .await(TIMEOUT);

            received.await(TIMEOUT);
            assertThat(memory.segment().getString(256 + GlobalRouteHeader.BYTES))
                    .isEqualTo("Saluton");
        }
    }

    @Test
    void shouldLeaveAndJoinAgainButNotLeaveTwice() throws Exception {
        var member = bound(PortSpace.UDP);
        for (var time = 0; time < 3; time++) {
            member.joinMulticast(GROUP);
            assertThat(joined(member).group()).isEqualTo(GROUP);
            member.leaveMulticast(GROUP);
        }

        assertThatThrownBy(() -> member.leaveMulticast(GROUP))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("rdma_leave_multicast failed for group 239.7.7.7")
                .hasMessageContaining("EADDRNOTAVAIL");
    }

    @Test
    void shouldRemainAMemberAfterItMigratesToAnotherChannel() throws Exception {
        var member = bound(PortSpace.UDP);
        member.joinMulticast(GROUP);
        joined(member);
        try (var target = fabric.connections().newEventChannel()) {
            var moved = member.migrateTo(target);
            moved.leaveMulticast(GROUP);
            moved.joinMulticast(GROUP);

            assertThat(target.next(TIMEOUT)).isInstanceOf(MulticastJoined.class);
        }
    }

    @Test
    void shouldRejectMulticastWithoutDatagramsOrWithoutADevice() throws Exception {
        var connected = bound(PortSpace.TCP);
        var unbound = channel.newIdentifier(PortSpace.UDP);

        assertThatThrownBy(() -> connected.joinMulticast(GROUP))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("EINVAL");
        assertThatThrownBy(() -> unbound.joinMulticast(GROUP))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("Resolve an address first");
    }
}
