package org.jrdma.verbs.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.abi.rdma.ibv_device_attr;
import org.jrdma.abi.rdma.ibv_device_attr_ex;
import org.jrdma.abi.rdma.ibv_port_attr;
import org.jrdma.verbs.model.ExtendedDeviceAttributes.PacketPacing;
import org.jrdma.verbs.model.ExtendedDeviceAttributes.ReceiveSideScaling;
import org.jrdma.verbs.model.ExtendedDeviceAttributes.TagMatching;
import org.junit.jupiter.api.Test;

/** Tests the reading of C structures in which each member has a distinct value. */
class AttributeReaderTest {

    private final Arena arena = Arena.ofAuto();

    @Test
    void shouldReadDeviceAttributes() {
        var attr = numbered(ibv_device_attr.layout());

        var read = AttributeReader.device(attr);

        assertThat(read.maxReliableDatagramReads()).isEqualTo(ibv_device_attr.max_ee_rd_atom(attr));
        assertThat(read.maxReliableDatagramReadsAsInitiator())
                .isEqualTo(ibv_device_attr.max_ee_init_rd_atom(attr));
        assertThat(read.maxEndToEndContexts()).isEqualTo(ibv_device_attr.max_ee(attr));
        assertThat(read.maxReliableDatagramDomains()).isEqualTo(ibv_device_attr.max_rdd(attr));
        assertThat(read.maxRawIpv6QueuePairs()).isEqualTo(ibv_device_attr.max_raw_ipv6_qp(attr));
        assertThat(read.maxRawEthernetQueuePairs())
                .isEqualTo(ibv_device_attr.max_raw_ethy_qp(attr));
        assertThat(read.maxFastRegions()).isEqualTo(ibv_device_attr.max_fmr(attr));
        assertThat(read.maxMappingsOfFastRegion()).isEqualTo(ibv_device_attr.max_map_per_fmr(attr));
        assertThat(read.capabilityFlags()).isEqualTo(ibv_device_attr.device_cap_flags(attr));
    }

    @Test
    void shouldReadExtendedDeviceAttributes() {
        var attr = ibv_device_attr_ex.allocate(arena);
        numberMembers(ibv_device_attr_ex.tso_caps(attr), "tso_caps", 10);
        numberMembers(ibv_device_attr_ex.rss_caps(attr), "rss_caps", 20);
        numberMembers(ibv_device_attr_ex.packet_pacing_caps(attr), "packet_pacing_caps", 30);
        numberMembers(ibv_device_attr_ex.tm_caps(attr), "tm_caps", 40);
        ibv_device_attr_ex.max_wq_type_rq(attr, 50);
        ibv_device_attr_ex.xrc_odp_caps(attr, 60);

        var read = AttributeReader.extended(attr);

        assertThat(read.maxSegmentationBytes()).isEqualTo(10);
        assertThat(read.segmentationTypes()).isEqualTo(11);
        assertThat(read.receiveSideScaling()).isEqualTo(new ReceiveSideScaling(20, 21, 22, 23, 24));
        assertThat(read.packetPacing()).isEqualTo(new PacketPacing(30, 31, 32));
        assertThat(read.tagMatching()).isEqualTo(new TagMatching(40, 41, 42, 43, 44));
        assertThat(read.maxReceiveWorkQueues()).isEqualTo(50);
        assertThat(read.extendedReliableOnDemand()).isEqualTo(60);
    }

    @Test
    void shouldReadPortAttributes() {
        var attr = port();

        var read = AttributeReader.port(1, attr);

        assertThat(read.moreCapabilityFlags()).isEqualTo(ibv_port_attr.port_cap_flags2(attr));
        assertThat(read.virtualLanes()).isEqualTo(ibv_port_attr.max_vl_num(attr));
        assertThat(read.badPartitionKeys()).isEqualTo(ibv_port_attr.bad_pkey_cntr(attr));
        assertThat(read.badQueueKeys()).isEqualTo(ibv_port_attr.qkey_viol_cntr(attr));
        assertThat(read.subnetManagerServiceLevel()).isEqualTo(ibv_port_attr.sm_sl(attr));
        assertThat(read.subnetTimeout())
                .isEqualTo(DurationCodes.exponential(ibv_port_attr.subnet_timeout(attr)));
        assertThat(read.initializationReply()).isEqualTo(ibv_port_attr.init_type_reply(attr));
    }

    /**
     * The older member {@code active_speed} has only one byte, which is too small for the speeds of
     * newer links.
     */
    @Test
    void shouldReadTheExtendedSpeedIfAvailable() {
        var attr = port();
        ibv_port_attr.active_speed(attr, (byte) 128);
        ibv_port_attr.active_speed_ex(attr, 256);

        assertThat(AttributeReader.port(1, attr).activeSpeed()).isEqualTo(256);

        ibv_port_attr.active_speed_ex(attr, 0);

        assertThat(AttributeReader.port(1, attr).activeSpeed()).isEqualTo(128);
    }

    private MemorySegment port() {
        var attr = numbered(ibv_port_attr.layout());
        ibv_port_attr.max_mtu(attr, 5); // Only the codes of MTUs can be read.
        ibv_port_attr.active_mtu(attr, 3);
        return attr;
    }

    private MemorySegment numbered(GroupLayout layout) {
        var structure = arena.allocate(layout);
        numberMembers(structure, layout, 1);
        return structure;
    }

    private static void numberMembers(MemorySegment structure, String member, int from) {
        var layout = ibv_device_attr_ex.layout().select(PathElement.groupElement(member));
        numberMembers(structure, (GroupLayout) layout, from);
    }

    /** Sets each numeric member to a distinct value. */
    private static void numberMembers(MemorySegment structure, GroupLayout layout, int from) {
        var next = from;
        for (var member : layout.memberLayouts()) {
            if (!(member instanceof ValueLayout value)) {
                continue;
            }
            var offset = layout.byteOffset(PathElement.groupElement(member.name().orElseThrow()));
            switch (value) {
                case ValueLayout.OfByte number -> structure.set(number, offset, (byte) next);
                case ValueLayout.OfShort number -> structure.set(number, offset, (short) next);
                case ValueLayout.OfInt number -> structure.set(number, offset, next);
                case ValueLayout.OfLong number -> structure.set(number, offset, next);
                default -> throw new AssertionError(value);
            }
            next++;
        }
    }
}
