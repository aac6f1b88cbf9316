package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.DiscoveryEntry;
import org.jrdma.nvme.model.DiscoveryLog;
import org.jrdma.nvme.model.QualifiedName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The limits of referrals, without a network. */
class ReferralFollowerTest {

    private static final int PORT = 4420;

    /** The logs of the targets 10.0.0.N, by N. A target without a log does not respond. */
    private final Map<Integer, List<DiscoveryEntry>> logs = new HashMap<>();

    /** The targets that were asked, in order. */
    private final List<Integer> asked = new ArrayList<>();

    private static InetSocketAddress address(int target) {
        return new InetSocketAddress(InetAddress.ofLiteral("10.0.0." + target), PORT);
    }

    private static DiscoveryEntry entry(
            int transport, int kind, String name, String service, String address) {
        return new DiscoveryEntry(
                transport,
                DiscoveryEntry.IPV4,
                kind,
                1,
                ConnectData.ANY_CONTROLLER,
                32,
                service,
                name,
                address);
    }

    private static DiscoveryEntry subsystem(int target) {
        return entry(
                DiscoveryEntry.RDMA,
                DiscoveryEntry.NVM_SUBSYSTEM,
                "nqn." + target,
                "4420",
                "10.0.0." + target);
    }

    private static DiscoveryEntry referral(int target) {
        return referral(DiscoveryEntry.RDMA, "4420", "10.0.0." + target);
    }

    private static DiscoveryEntry referral(int transport, String service, String address) {
        return entry(transport, DiscoveryEntry.REFERRAL, QualifiedName.DISCOVERY, service, address);
    }

    /** Adds a target with one subsystem and some referrals. */
    private void add(int target, int... referrals) {
        var entries = new ArrayList<>(List.of(subsystem(target)));
        IntStream.of(referrals).mapToObj(ReferralFollowerTest::referral).forEach(entries::add);
        logs.put(target, entries);
    }

    private Discovery discover() throws FabricException {
        return ReferralFollower.discover(
                address(1),
                target -> {
                    assertThat(target.getPort()).isEqualTo(PORT);
                    var number = Byte.toUnsignedInt(target.getAddress().getAddress()[3]);
                    asked.add(number);
                    var log = logs.get(number);
                    if (log == null) {
                        throw new FabricException("no response of " + number);
                    }
                    return new DiscoveryLog(1, log);
                });
    }

    private static List<String> subsystems(Discovery discovery) {
        return discovery.entries().stream()
                .filter(each -> each.kind() == DiscoveryEntry.NVM_SUBSYSTEM)
                .map(DiscoveryEntry::subsystemName)
                .toList();
    }

    @Test
    void shouldReadTheNearestTargetsFirst() throws FabricException {
        add(1, 2, 3);
        add(2, 4);
        add(3);
        add(4);
        var discovery = discover();
        assertThat(asked).containsExactly(1, 2, 3, 4);
        assertThat(subsystems(discovery)).containsExactly("nqn.1", "nqn.2", "nqn.3", "nqn.4");
        assertThat(discovery.entries()).contains(referral(2), referral(3), referral(4));
        assertThat(discovery.unfollowed()).isEmpty();
    }

    @Test
    void shouldAskNoTargetTwiceIfTargetsReferToEachOther() throws FabricException {
        add(1, 1, 2, 2);
        add(2, 1, 3);
        add(3, 2, 1);
        var discovery = discover();
        assertThat(asked).containsExactly(1, 2, 3);
        assertThat(subsystems(discovery)).containsExactly("nqn.1", "nqn.2", "nqn.3");
        assertThat(discovery.entries()).doesNotHaveDuplicates();
        assertThat(discovery.unfollowed()).isEmpty();
    }

    @Test
    void shouldLimitTheDepth() throws FabricException {
        for (var target = 1; target < 9; target++) {
            add(target, target + 1);
        }
        var discovery = discover();
        assertThat(asked).containsExactly(1, 2, 3, 4, 5);
        assertThat(discovery.unfollowed())
                .containsExactly(
                        new Discovery.UnfollowedReferral(
                                referral(6), "The target is more than 4 referrals away."));
    }

    @Test
    void shouldLimitTheNumberOfTargets() throws FabricException {
        add(1, IntStream.rangeClosed(2, 40).toArray());
        for (var target = 2; target <= 40; target++) {
            add(target);
        }
        var discovery = discover();
        assertThat(asked).hasSize(32);
        assertThat(discovery.unfollowed()).hasSize(8);
        assertThat(discovery.unfollowed().getFirst())
                .isEqualTo(
                        new Discovery.UnfollowedReferral(
                                referral(33), "There are more than 32 targets."));
        assertThat(discovery.entries()).contains(referral(40));
    }

    @ParameterizedTest
    @CsvSource({
        "3, 4420, 10.0.0.2",
        "2, 4420, 10.0.0.2",
        "1, 0, 10.0.0.2",
        "1, 04420, 10.0.0.2",
        "1, 65536, 10.0.0.2",
        "1, 999999, 10.0.0.2",
        "1, -1, 10.0.0.2",
        "1, '', 10.0.0.2",
        "1, http, 10.0.0.2",
        "1, 4420, localhost",
        "1, 4420, ''",
        "1, 4420, 10.0.0.256",
        "1, 4420, 'fd00::g'"
    })
    void shouldNotFollowInvalidReferrals(int transport, String service, String address)
            throws FabricException {
        logs.put(1, List.of(referral(transport, service, address), subsystem(1), referral(3)));
        add(3);
        var discovery = discover();
        assertThat(asked).containsExactly(1, 3);
        assertThat(subsystems(discovery)).containsExactly("nqn.1", "nqn.3");
        assertThat(discovery.unfollowed())
                .containsExactly(
                        new Discovery.UnfollowedReferral(
                                referral(transport, service, address),
                                "The entry does not name an IP address and a port for RDMA."));
    }

    @Test
    void shouldReportTargetsThatDoNotRespondAndContinue() throws FabricException {
        add(1, 2, 3);
        add(3);
        var discovery = discover();
        assertThat(subsystems(discovery)).containsExactly("nqn.1", "nqn.3");
        assertThat(discovery.unfollowed())
                .containsExactly(new Discovery.UnfollowedReferral(referral(2), "no response of 2"));
    }

    @Test
    void shouldFailIfTheFirstTargetDoesNotRespond() {
        assertThatThrownBy(this::discover)
                .isInstanceOf(FabricException.class)
                .hasMessage("no response of 1");
    }

    @Test
    void shouldEndIfTheThreadIsInterrupted() {
        add(1, 2, 3);
        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(this::discover).hasMessage("no response of 2");
            assertThat(asked).containsExactly(1, 2);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void shouldAcceptIpv6Addresses() {
        assertThat(referral(DiscoveryEntry.RDMA, "65535", "fd00::1").rdmaAddress())
                .contains(new InetSocketAddress(InetAddress.ofLiteral("fd00::1"), 65_535));
    }
}
