package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.ForkStatus;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.NodeType;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests how devices are listed, opened and queried. */
class DeviceTest {

    private final Fabric fabric = Fabric.underTest();
    private final Verbs verbs = fabric.verbs();
    private Device device;

    @BeforeEach
    void open() throws VerbsException {
        device = fabric.open();
    }

    @AfterEach
    void close() {
        device.close();
    }

    @Test
    void shouldListTheDeviceAsItDescribesItself() throws VerbsException {
        assertThat(verbs.devices())
                .extracting(DeviceDescription::name)
                .contains(fabric.deviceName())
                .doesNotHaveDuplicates();
        assertThat(verbs.devices()).contains(device.description());
        assertThat(device.name()).isEqualTo(fabric.deviceName());
        assertThat(device.description().nodeType()).isNotEqualTo(NodeType.UNKNOWN);
        assertThat(device.description().transportType()).isNotEqualTo(TransportType.UNKNOWN);
        assertThat(device.description().verbsName()).isNotBlank();
        assertThat(device.description().index().isPresent())
                .isEqualTo(fabric.symbols().find("ibv_get_device_index").isPresent());
    }

    @Test
    void shouldListTheExistingDevicesIfThereIsNoSuchDevice() throws VerbsException {
        assertThatThrownBy(() -> verbs.open("no-such-device"))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("no-such-device")
                .hasMessageContaining(fabric.deviceName());
    }

    @Test
    void shouldOpenTheDeviceMoreThanOnce() throws VerbsException {
        fabric.open().close();

        assertThat(device.attributes().ports()).isPositive();
    }

    @Test
    void shouldReportWhetherForkingIsSafe() {
        assertThat(verbs.forkStatus()).isNotNull().isNotEqualTo(ForkStatus.UNKNOWN);
    }

    @Test
    void shouldReportItsAttributes() throws VerbsException {
        var attributes = device.attributes();

        assertThat(attributes.ports()).isPositive();
        assertThat(attributes.nodeGuid()).isEqualTo(device.description().guid());
        assertThat(attributes.maxQueuePairs()).isPositive();
        assertThat(attributes.maxQueuePairRequests()).isPositive();
        assertThat(attributes.maxElements()).isPositive();
        assertThat(attributes.maxCompletionQueues()).isPositive();
        assertThat(attributes.maxCompletions()).isPositive();
        assertThat(attributes.maxRegions()).isPositive();
        assertThat(attributes.maxRegionBytes()).isNotZero();
        assertThat(attributes.maxDomains()).isPositive();
        assertThat(attributes.maxReadsAsDestination()).isPositive();
    }

    @Test
    void shouldReportItsCapabilitiesByNameAndAsBits() throws VerbsException {
        var attributes = device.attributes();

        assertThat(attributes.capabilities()).isNotEmpty();
        assertThat(Integer.bitCount(attributes.capabilityFlags()))
                .isGreaterThanOrEqualTo(attributes.capabilities().size());
        fabric.needs(Feature.EXTENDED_ATTRIBUTES);
        assertThat((int) device.extendedAttributes().extendedCapabilities())
                .isEqualTo(attributes.capabilityFlags());
    }

    @Test
    void shouldReportItsExtendedAttributes() throws VerbsException {
        fabric.needs(Feature.EXTENDED_ATTRIBUTES);

        var extended = device.extendedAttributes();

        assertThat(extended.reliableOnDemand() != 0).isEqualTo(extended.onDemand());
        assertThat(extended.deviceMemoryBytes()).isNotNegative();
        var pacing = extended.packetPacing();
        assertThat(pacing.minKilobits()).isBetween(0L, pacing.maxKilobits());
    }

    @Test
    void shouldReportTheAttributesOfAPort() throws VerbsException {
        var port = device.port(1);

        assertThat(port.port()).isEqualTo(1);
        assertThat(port.state()).isEqualTo(PortAttributes.State.ACTIVE);
        if (fabric.profile().has(Feature.REPORTING_GREATEST_MTU)) {
            assertThat(port.activeMtu()).isLessThanOrEqualTo(port.maxMtu());
        }
        assertThat(port.gidTableLength()).isPositive();
        assertThat(port.virtualLanes()).isBetween(0, 5);
        assertThat(port.activeSpeed()).isPositive();
        assertThat(port.badQueueKeys()).isNotNegative();
        assertThat(port.linkLayer()).isNotEqualTo(LinkLayer.UNSPECIFIED);
    }

    @Test
    void shouldRejectAPortThatDoesNotExist() throws VerbsException {
        var absent = device.attributes().ports() + 1;

        assertThatThrownBy(() -> device.port(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> device.port(256)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> device.port(absent))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_query_port")
                .hasMessageContaining("port " + absent)
                .hasMessageContaining("EINVAL");
        assertThatThrownBy(() -> device.gids(absent)).isInstanceOf(VerbsException.class);
        assertThatThrownBy(() -> device.partitionKeys(absent)).isInstanceOf(VerbsException.class);
    }

    @Test
    void shouldHaveTheDefaultPartitionKey() throws VerbsException {
        fabric.needs(Feature.PARTITION_KEYS);

        assertThat(device.partitionKeys(1)).contains(0xffff).doesNotContain(0);
    }

    @Test
    void shouldReportTheIndexOfAPartitionKey() throws VerbsException {
        fabric.needs(Feature.PARTITION_KEYS);

        assertThat(device.partitionKeyIndex(1, 0xffff)).hasValue(0);
        assertThat(device.partitionKeyIndex(1, 0x1234)).isEmpty();
    }

    @Test
    void shouldListItsGidsWithTheirTypes() throws VerbsException {
        assertThat(device.gids(1))
                .isNotEmpty()
                .allSatisfy(row -> {
                    assertThat(row.port()).isEqualTo(1);
                    assertThat(row.gid().isNone()).isFalse();
                    assertThat(row.type()).isNotEqualTo(GidEntry.Type.UNKNOWN);
                });
    }

    @Test
    void shouldPreferRoceV2OverIpv4AndReportWhy() throws VerbsException {
        var choice = device.chooseGid(1);
        var rows = device.gids(1);

        assertThat(choice.ranking()).hasSameSizeAs(rows);
        assertThat(choice.explanation().lines()).hasSameSizeAs(rows);
        assertThat(choice.ranking()).allSatisfy(ranked -> assertThat(ranked.reason()).isNotBlank());
        rows.stream()
                .filter(row -> row.type() == GidEntry.Type.ROCE_V2 && row.gid().isIpv4())
                .findFirst()
                .ifPresent(expected -> {
                    assertThat(choice.best()).contains(expected);
                    assertThat(choice.explanation())
                            .startsWith(expected + ": ")
                            .contains("RoCE v2, an IPv4 address");
                });
    }

    @Test
    void shouldReportTheIpAddressOfARoceDevice() throws IOException {
        var isRoce =
                device.gids(1).stream()
                        .anyMatch(row -> row.type() == GidEntry.Type.ROCE_V2 && row.gid().isIpv4());

        if (isRoce) {
            assertThat(device.ipAddress()).contains(Fabric.address(device));
        } else {
            assertThat(device.ipAddress()).isEmpty();
        }
    }

    @Test
    void shouldReportItsCompletionVectorsAndNumaNode() {
        assertThat(device.completionVectors()).isPositive();
        device.numaNode().ifPresent(node -> assertThat(node).isNotNegative());
    }
}
