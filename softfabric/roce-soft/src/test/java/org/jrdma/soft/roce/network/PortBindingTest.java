package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.CompletionStatus;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.engine.SendOperationKind;
import org.jrdma.soft.roce.packet.RouteHeader;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the addresses at which a port can be opened, and multicast groups. */
class PortBindingTest {

    private static final int EVERY_MEMBER = 0xff_ffff;
    private static final int QUEUE_KEY = 0x1234;

    @ParameterizedTest
    @CsvSource({"65536, 4096", "9000, 4096", "4180, 4096", "4179, 2048", "1500, 1024", "576, 256"})
    void shouldChooseThePathMtuThatFitsTheInterface(int mtu, int expected) {
        assertThat(new LocalInterface("eth0", 2, mtu, false).pathMtu()).isEqualTo(expected);
    }

    @Test
    void shouldSupportAllLoopbackAddresses() throws Exception {
        try (var station = PortFixture.anywhere()) {
            assertThat(station.port.interfaceName()).isEqualTo("lo");
            assertThat(station.port.interfaceIndex()).isPositive();
            assertThat(station.port.pathMtu()).isEqualTo(4096);
        }
    }

    @Test
    void shouldReportAnAddressThatThisMachineDoesNotHave() {
        assertThatThrownBy(() -> PortFixture.at(RoceGid.of(InetAddress.ofLiteral("192.0.2.1"))))
                .isInstanceOf(FabricException.class)
                .hasMessageContaining("192.0.2.1");
    }

    @Test
    void shouldSupportIpv6() throws Exception {
        try (var station = at(RoceGid.of(InetAddress.ofLiteral("::1")))) {
            var pair = PortFixture.connected(station, station, 4096);
            station.receive(pair[1], 1, 50_000, 20_000);
            station.memory.asSlice(0, 20_000).fill((byte) 8);
            station.send(pair[0], 2, 0, 20_000);
            assertThat(List.of(station.await().status(), station.await().status()))
                    .containsOnly(CompletionStatus.SUCCESS);
            assertThat(
                            station.memory
                                    .asSlice(50_000, 20_000)
                                    .mismatch(station.memory.asSlice(0, 20_000)))
                    .isEqualTo(-1);
        }
    }

    /**
     * Opens a station at an address, or aborts the test if the address is in use. Another build on
     * this machine may use ::1.
     */
    private static PortFixture at(RoceGid address) throws FabricException {
        try {
            return PortFixture.at(address);
        } catch (FabricException e) {
            if (e.code() == Errno.EADDRINUSE || e.getMessage().startsWith("No network interface")) {
                return abort(e.getMessage());
            }
            throw e;
        }
    }

    /**
     * Two queue pairs left the group: one at the port of a member, whose socket still receives the
     * messages of the group, and the only one of another port.
     */
    @Test
    void shouldReachOnlyTheMembersOfAGroup() throws Exception {
        try (var sender = PortFixture.anywhere();
                var member = PortFixture.anywhere();
                var former = PortFixture.anywhere()) {
            var group = RoceGid.ipv4(0xefff_0000 | ThreadLocalRandom.current().nextInt(0xffff));
            var sending = newDatagramQueuePair(sender);
            var leaving = newDatagramQueuePair(member);
            var receiving = newDatagramQueuePair(member);
            var formerMember = newDatagramQueuePair(former);
            join(member, leaving, group);
            join(member, receiving, group);
            join(former, formerMember, group);
            leave(member, leaving, group);
            leave(former, formerMember, group);
            member.receive(leaving, 1, 10_000, 1_000);
            member.receive(receiving, 2, 0, 1_000);
            former.receive(formerMember, 3, 0, 1_000);
            former.receive(formerMember, 4, 1_000, 1_000);

            send(sender, sending, "Saluton", group, EVERY_MEMBER);

            var received = member.await();
            assertThat(received.queuePair()).isEqualTo(receiving.number());
            assertThat(received.bytes()).isEqualTo(RouteHeader.BYTES + 8);
            assertThat(member.memory.getString(RouteHeader.BYTES)).isEqualTo("Saluton");
            // A port reads all of its sockets in turn. When the second message arrives, the port
            // has therefore read each socket since the message to the group.
            for (var offset = 0; offset < 2_000; offset += 1_000) {
                send(sender, sending, "Direkte", former.port.address(), formerMember.number());
                assertThat(former.await().status()).isEqualTo(CompletionStatus.SUCCESS);
                assertThat(former.memory.getString(offset + RouteHeader.BYTES))
                        .isEqualTo("Direkte");
            }
            assertThat(member.done).isEmpty();
        }
    }

    /** Sends a text of seven characters. */
    private static void send(
            PortFixture station, QueuePair queuePair, String text, RoceGid address, int number) {
        station.memory.setString(0, text);
        queuePair
                .sends()
                .claim()
                .begin(5, SendOperationKind.SEND)
                .buffer(PortFixture.START, 8, station.region.key())
                .datagram(address, number, QUEUE_KEY);
        queuePair.sends().post();
        station.port.ring(queuePair);
    }

    private static QueuePair newDatagramQueuePair(PortFixture station) {
        var queuePair = station.newQueuePair(Transport.DATAGRAM);
        station.connect(queuePair, station, queuePair, 1024, 14);
        return queuePair;
    }

    private static void join(PortFixture station, QueuePair queuePair, RoceGid group)
            throws FabricException {
        station.port.join(group);
        station.port.control(engine -> {
            engine.joinGroup(queuePair, group);
            return queuePair;
        });
    }

    private static void leave(PortFixture station, QueuePair queuePair, RoceGid group) {
        station.port.control(engine -> {
            engine.leaveGroup(queuePair, group);
            return queuePair;
        });
        station.port.leave(group);
    }
}
