package org.jrdma.tck.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.verbs.QueuePairOptions.rawPackets;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledRawQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.flow.FlowRule;
import org.jrdma.verbs.flow.model.FlowField;
import org.jrdma.verbs.flow.model.FlowHeaderMatch;
import org.jrdma.verbs.flow.model.FlowKind;
import org.jrdma.verbs.flow.model.FlowOption;
import org.jrdma.verbs.flow.model.FlowQuantity;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests flow rules and flow counters. */
class FlowTest {

    /** The beginning of the recorded call that creates a flow. */
    private static final String HEAD =
            "ibv_create_flow qp=qp1 comp_mask=0 type=0 priority=0 port=1 flags=0x0";

    @RegisterExtension private final Recorder recorder = Recorder.begin();
    private Device device;
    private ProtectionDomain domain;
    private CompletionQueue completions;
    private PolledRawQueuePair queuePair;

    @BeforeEach
    void open() throws Exception {
        recorder.answer("link_layer", 2); // Ethernet.
        device = recorder.open();
        domain = device.newProtectionDomain();
        completions = device.newCompletionQueue(64);
        queuePair = domain.newRawQueuePair(completions);
        recorder.calls();
    }

    @AfterEach
    void close() {
        device.close();
    }

    private List<String> matching(FlowHeaderMatch... layers) throws Exception {
        queuePair.newFlow(FlowRule.matching(layers));
        return recorder.calls();
    }

    @Test
    void shouldMatchEthernetAndUdpOverIpv4() throws Exception {
        assertThat(
                        matching(
                                FlowHeaderMatch.of(FlowHeaderMatch.Kind.ETHERNET)
                                        .match(FlowField.ETHERNET_DESTINATION, 0x0102_0304_0506L)
                                        .match(
                                                FlowField.ETHERNET_SOURCE,
                                                0xaabb_cc00_0000L,
                                                0xffff_ff00_0000L)
                                        .match(FlowField.ETHER_TYPE, 0x0800)
                                        .match(FlowField.VLAN_TAG, 0x2123, 0x0fff),
                                FlowHeaderMatch.of(FlowHeaderMatch.Kind.IPV4)
                                        .match(
                                                FlowField.IPV4_SOURCE,
                                                InetAddress.getByName("10.20.30.40"))
                                        .match(
                                                FlowField.IPV4_DESTINATION,
                                                InetAddress.getByName("192.0.2.128"),
                                                25),
                                FlowHeaderMatch.of(FlowHeaderMatch.Kind.UDP)
                                        .match(FlowField.DESTINATION_PORT, 4791)
                                        .match(FlowField.SOURCE_PORT, 0xc000, 0xc000)))
                .containsExactly(
                        HEAD
                                + " {type=0x20 size=40 dst_mac=010203040506/ffffffffffff"
                                + " src_mac=aabbcc000000/ffffff000000 ether_type=0x800/0xffff"
                                + " vlan_tag=0x2123/0xfff} {type=0x30 size=24"
                                + " src_ip=0xa141e28/0xffffffff dst_ip=0xc0000280/0xffffff80}"
                                + " {type=0x41 size=16 dst_port=0x12b7/0xffff"
                                + " src_port=0xc000/0xc000}");
    }

    @Test
    void shouldMatchFurtherFieldsOfIpv4AndTcpWithoutFields() throws Exception {
        assertThat(
                        matching(
                                FlowHeaderMatch.of(FlowHeaderMatch.Kind.IPV4)
                                        .match(FlowField.IPV4_SOURCE, 0x0a00_0001)
                                        .match(FlowField.IPV4_PROTOCOL, 6)
                                        .match(FlowField.IPV4_TYPE_OF_SERVICE, 0xb8, 0xfc)
                                        .match(FlowField.IPV4_TIME_TO_LIVE, 255)
                                        .match(FlowField.IPV4_FLAGS, 1),
                                FlowHeaderMatch.of(FlowHeaderMatch.Kind.TCP)))
                .containsExactly(
                        HEAD
                                + " {type=0x32 size=32 src_ip=0xa000001/0xffffffff dst_ip=0x0/0x0"
                                + " proto=0x6/0xff tos=0xb8/0xfc ttl=0xff/0xff flags=0x1/0xff}"
                                + " {type=0x40 size=16 dst_port=0x0/0x0 src_port=0x0/0x0}");
    }

    @Test
    void shouldMatchIpv6() throws Exception {
        assertThat(
                        matching(
                                FlowHeaderMatch.of(FlowHeaderMatch.Kind.IPV6)
                                        .match(
                                                FlowField.IPV6_SOURCE,
                                                InetAddress.getByName("2001:db8::1"))
                                        .match(
                                                FlowField.IPV6_DESTINATION,
                                                InetAddress.getByName("2001:db8:1::"),
                                                44)
                                        .match(FlowField.IPV6_FLOW_LABEL, 0x12345)
                                        .match(FlowField.IPV6_NEXT_HEADER, 17)
                                        .match(FlowField.IPV6_TRAFFIC_CLASS, 1)
                                        .match(FlowField.IPV6_HOP_LIMIT, 2)))
                .containsExactly(
                        HEAD
                                + " {type=0x31 size=88"
                                + " src_ip=20010db8000000000000000000000001/ffffffffffffffffffffffffffffffff"
                                + " dst_ip=20010db8000100000000000000000000/fffffffffff000000000000000000000"
                                + " flow_label=0x12345/0xfffff next_hdr=0x11/0xff"
                                + " traffic_class=0x1/0xff hop_limit=0x2/0xff}");
    }

    @Test
    void shouldMatchTunnelsAndTheirInnerPackets() throws Exception {
        assertThat(
                        matching(
                                FlowHeaderMatch.of(FlowHeaderMatch.Kind.VXLAN)
                                        .match(FlowField.VXLAN_NETWORK_IDENTIFIER, 0x1234),
                                FlowHeaderMatch.inTunnel(FlowHeaderMatch.Kind.UDP)
                                        .match(FlowField.SOURCE_PORT, 53),
                                FlowHeaderMatch.of(FlowHeaderMatch.Kind.GRE)
                                        .match(FlowField.GRE_FLAGS, 0x2000)
                                        .match(FlowField.GRE_PROTOCOL, 0x6558)
                                        .match(FlowField.GRE_KEY, 0xdead_beefL),
                                FlowHeaderMatch.of(FlowHeaderMatch.Kind.MPLS)
                                        .match(FlowField.MPLS_LABEL, 0x12345_1ffL),
                                FlowHeaderMatch.of(FlowHeaderMatch.Kind.ESP)
                                        .match(FlowField.ESP_SECURITY_PARAMETERS_INDEX, 7)
                                        .match(FlowField.ESP_SEQUENCE_NUMBER, 8)))
                .containsExactly(
                        HEAD
                                + " {type=0x50 size=16 tunnel_id=0x1234/0xffffff} {type=0x141"
                                + " size=16 dst_port=0x0/0x0 src_port=0x35/0xffff} {type=0x51"
                                + " size=24 c_ks_res0_ver=0x2000/0xffff protocol=0x6558/0xffff"
                                + " key=0xdeadbeef/0xffffffff} {type=0x60 size=16"
                                + " label=0x123451ff/0xffffffff} {type=0x34 size=24"
                                + " spi=0x7/0xffffffff seq=0x8/0xffffffff}");
    }

    @Test
    void shouldCreateFlowsWithOtherKindsOptionsAndActions() throws Exception {
        queuePair.newFlow(FlowRule.all(FlowKind.ALL_OTHERS).priority(0xfffe));
        queuePair.newFlow(FlowRule.all(FlowKind.OTHER_MULTICAST));
        queuePair.newFlow(
                FlowRule.all(FlowKind.SNIFFER)
                        .option(FlowOption.DO_NOT_TRAP)
                        .option(FlowOption.EGRESS));
        queuePair.newFlow(
                FlowRule.matching(FlowHeaderMatch.of(FlowHeaderMatch.Kind.TCP))
                        .tagged(0xcafe_babe)
                        .dropping());

        assertThat(recorder.calls())
                .containsExactly(
                        "ibv_create_flow qp=qp1 comp_mask=0 type=1 priority=65534 port=1 flags=0x0",
                        "ibv_create_flow qp=qp1 comp_mask=0 type=2 priority=0 port=1 flags=0x0",
                        "ibv_create_flow qp=qp1 comp_mask=0 type=3 priority=0 port=1 flags=0x6",
                        HEAD
                                + " {type=0x40 size=16 dst_port=0x0/0x0 src_port=0x0/0x0}"
                                + " {type=0x1000 size=12 tag_id=0xcafebabe} {type=0x1001 size=8}");
    }

    @Test
    void shouldCountPacketsAndBytes() throws Exception {
        recorder.answer("counted", 1000);
        var counters = device.newFlowCounters();
        counters.count(FlowQuantity.PACKETS, 0);
        counters.count(FlowQuantity.BYTES, 1);
        var layer =
                FlowHeaderMatch.of(FlowHeaderMatch.Kind.ETHERNET)
                        .match(FlowField.ETHER_TYPE, 0x88b5);
        var flow = queuePair.newFlow(FlowRule.matching(layer).countedBy(counters));

        assertThat(counters.read(2)).containsExactly(1000, 1001);
        assertThat(counters.readCached(1)).containsExactly(1000);
        counters.close(); // Destroys the flow that uses the counters first.

        assertThat(flow.isOpen()).isFalse();
        assertThat(recorder.calls())
                .containsExactly(
                        "ibv_create_counters context=device1 comp_mask=0",
                        "ibv_attach_counters_point_flow counters=counters1 counter_desc=0 index=0"
                                + " comp_mask=0 flow=0",
                        "ibv_attach_counters_point_flow counters=counters1 counter_desc=1 index=1"
                                + " comp_mask=0 flow=0",
                        HEAD
                                + " {type=0x20 size=40 dst_mac=000000000000/000000000000"
                                + " src_mac=000000000000/000000000000 ether_type=0x88b5/0xffff"
                                + " vlan_tag=0x0/0x0} {type=0x1003 size=16 counters=counters1}",
                        "ibv_read_counters counters=counters1 ncounters=2 flags=0x0",
                        "ibv_read_counters counters=counters1 ncounters=1 flags=0x1",
                        "ibv_destroy_flow flow=flow1",
                        "ibv_destroy_counters counters=counters1");
        assertThatIllegalStateException().isThrownBy(() -> counters.read(1));
    }

    @Test
    void shouldDestroyFlowsOfADatagramQueuePairWithIt() throws Exception {
        var other = domain.newDatagramQueuePair(completions);
        var rule = FlowRule.matching(FlowHeaderMatch.of(FlowHeaderMatch.Kind.UDP));
        var first = other.newFlow(rule);
        var second = other.newFlow(rule);
        recorder.calls();

        first.close();
        first.close();
        other.close();

        assertThat(second.isOpen()).isFalse();
        assertThat(recorder.calls())
                .containsExactly(
                        "ibv_destroy_flow flow=flow1",
                        "ibv_destroy_flow flow=flow2",
                        "ibv_destroy_qp qp=qp2");
    }

    @Test
    void shouldKeepLayersAndRulesWhenCopiesAreChanged() throws Exception {
        var layer = FlowHeaderMatch.of(FlowHeaderMatch.Kind.UDP).match(FlowField.SOURCE_PORT, 1);
        var rule = FlowRule.matching(layer);

        var _ = layer.match(FlowField.SOURCE_PORT, 2);
        var _ = rule.dropping().tagged(7);
        queuePair.newFlow(rule);

        assertThat(recorder.calls())
                .containsExactly(
                        HEAD + " {type=0x41 size=16 dst_port=0x0/0x0 src_port=0x1/0xffff}");
    }

    @Test
    void shouldLimitTheLayersToTheCountThatCCanRepresent() throws Exception {
        var maxLayers = new FlowHeaderMatch[FlowRule.MAX_LAYERS];
        Arrays.setAll(maxLayers, _ -> FlowHeaderMatch.of(FlowHeaderMatch.Kind.MPLS));
        try (var counters = device.newFlowCounters()) {
            var rule = FlowRule.matching(maxLayers).tagged(1).dropping().countedBy(counters);
            queuePair.newFlow(rule);

            assertThat(recorder.calls().getLast().split("type=")).hasSize(2 + 0xff);
        }
        var tooMany = Arrays.copyOf(maxLayers, maxLayers.length + 1);
        tooMany[maxLayers.length] = maxLayers[0];
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlowRule.matching(tooMany))
                .withMessage("The number of layers must be between 0 and 252: 253");
    }

    @ParameterizedTest
    @CsvSource({"IPV6,IPV6_FLOW_LABEL,20", "VXLAN,VXLAN_NETWORK_IDENTIFIER,24"})
    void shouldRejectValuesWithMoreBitsThanTheField(
            FlowHeaderMatch.Kind kind, FlowField field, int bits) throws Exception {
        var layer = FlowHeaderMatch.of(kind);
        var tooLarge = 1L << bits;

        assertThatIllegalArgumentException()
                .isThrownBy(() -> layer.match(field, tooLarge))
                .withMessageContaining(field + " must be between 0 and " + (tooLarge - 1));
        assertThatIllegalArgumentException().isThrownBy(() -> layer.match(field, 0, tooLarge));
        assertThat(matching(layer.match(field, tooLarge - 1)).getLast())
                .contains("=0x%x/0x%x".formatted(tooLarge - 1, tooLarge - 1));
    }

    @Test
    void shouldRejectMatchesThatTheHeaderCannotHave() throws Exception {
        var ethernet = FlowHeaderMatch.of(FlowHeaderMatch.Kind.ETHERNET);
        var ipv6 = FlowHeaderMatch.of(FlowHeaderMatch.Kind.IPV6);
        var ipv4Address = InetAddress.getByName("10.0.0.1");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> ethernet.match(FlowField.SOURCE_PORT, 1))
                .withMessageContaining("ETHERNET has no field SOURCE_PORT");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ethernet.match(FlowField.ETHER_TYPE, 0x1_0000));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ethernet.match(FlowField.ETHER_TYPE, 1, 0x1_0000));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ipv6.match(FlowField.IPV6_SOURCE, ipv4Address));
        assertThatIllegalArgumentException().isThrownBy(() -> ipv6.match(FlowField.IPV6_SOURCE, 1));
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        FlowHeaderMatch.of(FlowHeaderMatch.Kind.GRE)
                                .match(FlowField.GRE_KEY, ipv4Address))
                .withMessageContaining("GRE_KEY cannot match");
        assertThatIllegalArgumentException().isThrownBy(() -> FlowRule.all(FlowKind.MATCHING));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlowRule.matching(ethernet).priority(0x1_0000));
    }

    @Test
    void shouldRejectFlowsOfConnectionsAndCountersOfAnotherDevice() throws Exception {
        var connected = domain.newReliableQueuePair(completions);
        var rule = FlowRule.matching(FlowHeaderMatch.of(FlowHeaderMatch.Kind.UDP));

        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> connected.newFlow(rule))
                .withMessageContaining("reliable connection");
        try (var other = recorder.open();
                var counters = other.newFlowCounters()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> queuePair.newFlow(rule.countedBy(counters)));
        }
    }

    @Test
    void shouldReportThatADeviceRejectsOrLacksFlowsAndCounters() throws Exception {
        var rule = FlowRule.matching(FlowHeaderMatch.of(FlowHeaderMatch.Kind.UDP));
        recorder.fail("ibv_create_flow", Errno.EINVAL);
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> queuePair.newFlow(rule))
                .withMessageContaining("MATCHING [UDP []]")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EINVAL));
        recorder.fail("ibv_create_flow", Errno.EPERM);
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> queuePair.newFlow(rule))
                .withMessageContaining("CAP_NET_RAW");
        recorder.fail("ibv_attach_counters_point_flow", Errno.EOPNOTSUPP);
        try (var counters = device.newFlowCounters()) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> counters.count(FlowQuantity.BYTES, 3))
                    .withMessageContaining("BYTES at index 3");
            recorder.fail("ibv_read_counters", Errno.EINVAL);
            assertThatExceptionOfType(VerbsException.class).isThrownBy(() -> counters.read(1));
        }

        try (var without = recorder.openWithout("ibv_create_flow", "create_counters")) {
            var raw =
                    without.newProtectionDomain()
                            .newQueuePair(rawPackets(without.newCompletionQueue(16)));
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> raw.newFlow(rule))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EOPNOTSUPP));
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(without::newFlowCounters)
                    .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EOPNOTSUPP));
        }
    }
}
