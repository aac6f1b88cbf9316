package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.DiscoveryEntry;
import org.jrdma.nvme.model.QualifiedName;
import org.jrdma.nvme.soft.NvmeTarget;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.nvme.soft.TargetOptions;
import org.jrdma.soft.junit.SoftFabricTest;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Targets that refer hosts to other targets. */
@Timeout(60)
class ReferralsTest {

    private static final FabricsOptions OPTIONS =
            FabricsOptions.of(HostIdentity.of(new UUID(7, 25)))
                    .connectTimeout(Duration.ofSeconds(5));

    private static NvmeTarget target(
            Verbs verbs,
            ConnectionManager manager,
            InetSocketAddress address,
            String name,
            InetSocketAddress... referrals)
            throws FabricException {
        var target =
                NvmeTarget.listen(
                        verbs,
                        manager,
                        address,
                        TargetOptions.DEFAULTS.referrals(List.of(referrals)));
        target.export(new Subsystem("serial 1", "jrdma test", name));
        return target;
    }

    /** Two targets refer to each other, and one of them to a port without a target. */
    @SoftFabricTest(devices = 2)
    void shouldFollowTheReferralsOfATarget(
            Verbs verbs, ConnectionManager manager, InetAddress one, InetAddress two)
            throws Exception {
        var first = new InetSocketAddress(one, NvmeTarget.PORT);
        var second = new InetSocketAddress(two, NvmeTarget.PORT);
        var missing = new InetSocketAddress(two, NvmeTarget.PORT + 1);
        try (var _ = target(verbs, manager, first, "nqn.first", second, missing);
                var _ = target(verbs, manager, second, "nqn.second", first)) {
            var log = NvmeFabrics.discover(verbs, manager, first, OPTIONS);
            assertThat(log.entries())
                    .extracting(DiscoveryEntry::subsystemName)
                    .containsExactly("nqn.first", QualifiedName.DISCOVERY, QualifiedName.DISCOVERY);
            var referral = log.entries().get(1);
            assertThat(referral.kind()).isEqualTo(DiscoveryEntry.REFERRAL);
            assertThat(referral.family()).isEqualTo(DiscoveryEntry.IPV4);
            assertThat(referral.rdmaAddress()).contains(second);

            var discovery = NvmeFabrics.discoverAll(verbs, manager, first, OPTIONS);
            assertThat(discovery.entries())
                    .filteredOn(entry -> entry.kind() == DiscoveryEntry.NVM_SUBSYSTEM)
                    .extracting(DiscoveryEntry::subsystemName)
                    .containsExactly("nqn.first", "nqn.second");
            assertThat(discovery.unfollowed())
                    .singleElement()
                    .satisfies(each -> {
                        assertThat(each.referral().rdmaAddress()).contains(missing);
                        assertThat(each.reason()).isNotEmpty();
                    });
        }
    }

    @Test
    void shouldRejectReferralsToWhichAHostCannotConnect() {
        var addresses =
                List.of(
                        new InetSocketAddress("0.0.0.0", 4420),
                        new InetSocketAddress("::", 4420),
                        new InetSocketAddress("10.0.0.1", 0),
                        InetSocketAddress.createUnresolved("storage01", 4420));
        for (var address : addresses) {
            assertThatThrownBy(() -> TargetOptions.DEFAULTS.referrals(List.of(address)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Cannot refer hosts to")
                    .hasMessageContaining(Integer.toString(address.getPort()));
        }
        var valid = new InetSocketAddress("10.0.0.1", 4420);
        assertThat(TargetOptions.DEFAULTS.referrals(Collections.nCopies(64, valid)).referrals())
                .hasSize(64);
        assertThatThrownBy(() -> TargetOptions.DEFAULTS.referrals(Collections.nCopies(65, valid)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("The number of referrals is 65. It must be from 0 to 64.");
    }
}
