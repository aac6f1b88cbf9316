package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.model.TracedPacket.Direction;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;

/** Tests how programs open and use devices of the software fabric. */
class SoftDeviceTest {

    /**
     * A loopback address that is derived from the process ID, so that tests of other builds on this
     * machine are unlikely to use it.
     */
    private static final InetAddress ADDRESS =
            InetAddress.ofLiteral(
                    "127.%d.%d.1"
                            .formatted(
                                    100 + ProcessHandle.current().pid() % 100,
                                    ProcessHandle.current().pid() / 100 % 250));

    @Test
    void shouldReportWhichProcessUsesTheAddress() throws Exception {
        try (var first = Verbs.from(SoftRoce.at(ADDRESS)).open("soft0")) {
            var second = Verbs.from(SoftRoce.at(ADDRESS));

            assertThat(first.isOpen()).isTrue();
            assertThatThrownBy(() -> second.open("soft0"))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_open_device")
                    .hasMessageContaining("EADDRINUSE")
                    .hasMessageContaining("4791")
                    .hasMessageContaining(ADDRESS.getHostAddress());
        }
    }

    @Test
    void shouldUseTheNextFreeAddressByDefault() throws Exception {
        var verbs = Verbs.from(SoftRoce.onLoopback(2));
        try (var first = verbs.open("soft0");
                var second = verbs.open("soft1")) {
            assertThat(gid(first)).isNotEqualTo(gid(second));
        }
    }

    @Test
    void shouldReleaseItsAddressWhenTheLastContextIsClosed() throws Exception {
        var verbs = Verbs.from(SoftRoce.at(ADDRESS));
        for (var round = 0; round < 3; round++) {
            try (var one = verbs.open("soft0");
                    var other = verbs.open("soft0")) {
                assertThat(gid(one)).isEqualTo(gid(other));
            }
        }
    }

    @Test
    void shouldKeepFaultCountsWhenItIsClosedAndOpenedAgain() throws Exception {
        var library = SoftRoce.onLoopback(1);
        var soft = library.devices().getFirst();
        var verbs = Verbs.from(library);
        soft.faults(NetworkFaults.NONE.loss(1));
        for (var round = 1; round <= 2; round++) {
            try (var device = verbs.open(soft.name());
                    var domain = device.newProtectionDomain();
                    var memory = domain.newArena(Access.LOCAL_WRITE);
                    var completions = device.newCompletionDispatcher(4);
                    var queuePair = domain.newUnreliableQueuePair(completions)) {
                queuePair.connect(queuePair.endpoint());
                queuePair.send(memory.region(64).slice()).await(Duration.ofSeconds(10));
                assertThat(soft.faultCounts())
                        .isEqualTo(new NetworkFaultCounts(round, round, 0, 0, 0, 0));
            }
            assertThat(soft.faultCounts().lost()).isEqualTo(round);
        }
    }

    @Test
    void shouldInjectTheSameFaultsForTheSameSeedButNotOnAnotherDevice() throws Exception {
        var faults = NetworkFaults.seeded(5).loss(0.5);

        var first = directionsByDevice(faults);

        assertThat(first).hasSize(2);
        assertThat(first.getFirst()).isNotEqualTo(first.getLast());
        assertThat(directionsByDevice(faults)).isEqualTo(first);
    }

    /** Returns for each device whether each of its packets was sent or lost. */
    private static List<List<Direction>> directionsByDevice(NetworkFaults faults) throws Exception {
        var library = SoftRoce.onLoopback(2);
        var all = new ArrayList<List<Direction>>();
        for (var soft : library.devices()) {
            var sent = new CopyOnWriteArrayList<Direction>();
            soft.faults(faults);
            soft.listen(packet -> {
                if (packet.direction() != Direction.RECEIVED) {
                    sent.add(packet.direction());
                }
            });
            try (var device = Verbs.from(library).open(soft.name());
                    var domain = device.newProtectionDomain();
                    var memory = domain.newArena(Access.LOCAL_WRITE);
                    var completions = device.newCompletionDispatcher(4);
                    var queuePair = domain.newUnreliableQueuePair(completions)) {
                var message = memory.region(64).slice();
                queuePair.connect(queuePair.endpoint());
                for (var number = 0; number < 64; number++) {
                    queuePair.send(message).await(Duration.ofSeconds(10));
                }
            }
            assertThat(sent).hasSize(64);
            all.add(sent);
        }
        return all;
    }

    @Test
    void shouldWorkOverIpv6() throws Exception {
        try (var device = Verbs.from(SoftRoce.at(InetAddress.ofLiteral("::1"))).open("soft0")) {
            assertThat(gid(device)).isEqualTo(new Gid(0, 1));
        }
    }

    /** A datagram needs no connection, so the address handle prepares the shared memory. */
    @Test
    void shouldShareMemoryWithTheDestinationOfAnAddressHandle() throws Exception {
        var verbs = Verbs.from(SoftRoce.onLoopback(2));
        try (var first = verbs.open("soft0");
                var second = verbs.open("soft1")) {
            var domain = first.newProtectionDomain();
            var sender = domain.newDatagramQueuePair(first.newCompletionQueue(4));
            var receiver =
                    second.newProtectionDomain().newDatagramQueuePair(second.newCompletionQueue(4));
            var before = sharedMappings();
            var address = sender.addressOf(receiver.endpoint());

            try (var _ = domain.newAddressHandle(address)) {
                assertThat(sharedMappings()).isGreaterThan(before);
            }
        }
    }

    private static long sharedMappings() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("memfd:jrdma-roce-soft")).count();
        }
    }

    private static Gid gid(Device device) throws VerbsException {
        return device.gids(1).getFirst().gid();
    }
}
