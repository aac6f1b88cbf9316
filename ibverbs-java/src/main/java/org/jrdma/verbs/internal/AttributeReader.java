package org.jrdma.verbs.internal;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_cq_moderation_caps;
import org.jrdma.abi.rdma.ibv_device_attr;
import org.jrdma.abi.rdma.ibv_device_attr_ex;
import org.jrdma.abi.rdma.ibv_odp_caps;
import org.jrdma.abi.rdma.ibv_packet_pacing_caps;
import org.jrdma.abi.rdma.ibv_port_attr;
import org.jrdma.abi.rdma.ibv_rss_caps;
import org.jrdma.abi.rdma.ibv_tm_caps;
import org.jrdma.abi.rdma.ibv_tso_caps;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.verbs.model.DeviceAttributes;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.ExtendedDeviceAttributes.PacketPacing;
import org.jrdma.verbs.model.ExtendedDeviceAttributes.ReceiveSideScaling;
import org.jrdma.verbs.model.ExtendedDeviceAttributes.TagMatching;
import org.jrdma.verbs.model.PortAttributes;

/** Converts the C structures with query results to records of the API. */
final class AttributeReader {

    private AttributeReader() {}

    /** Reads an {@link ibv_device_attr}. */
    static DeviceAttributes device(MemorySegment attr) {
        return new DeviceAttributes(
                ibv_device_attr.fw_ver(attr).getString(0),
                BigEndian.toNative(ibv_device_attr.node_guid(attr)),
                BigEndian.toNative(ibv_device_attr.sys_image_guid(attr)),
                ibv_device_attr.vendor_id(attr),
                ibv_device_attr.vendor_part_id(attr),
                ibv_device_attr.hw_ver(attr),
                Byte.toUnsignedInt(ibv_device_attr.phys_port_cnt(attr)),
                ibv_device_attr.max_mr_size(attr),
                ibv_device_attr.page_size_cap(attr),
                ibv_device_attr.max_qp(attr),
                ibv_device_attr.max_qp_wr(attr),
                ibv_device_attr.max_sge(attr),
                ibv_device_attr.max_sge_rd(attr),
                ibv_device_attr.max_cq(attr),
                ibv_device_attr.max_cqe(attr),
                ibv_device_attr.max_mr(attr),
                ibv_device_attr.max_pd(attr),
                ibv_device_attr.max_qp_rd_atom(attr),
                ibv_device_attr.max_qp_init_rd_atom(attr),
                ibv_device_attr.max_res_rd_atom(attr),
                ibv_device_attr.max_ee_rd_atom(attr),
                ibv_device_attr.max_ee_init_rd_atom(attr),
                VerbsEnumCodes.ATOMIC_CAPABILITY.of(ibv_device_attr.atomic_cap(attr)),
                ibv_device_attr.max_mw(attr),
                ibv_device_attr.max_ee(attr),
                ibv_device_attr.max_rdd(attr),
                ibv_device_attr.max_raw_ipv6_qp(attr),
                ibv_device_attr.max_raw_ethy_qp(attr),
                ibv_device_attr.max_mcast_grp(attr),
                ibv_device_attr.max_mcast_qp_attach(attr),
                ibv_device_attr.max_total_mcast_qp_attach(attr),
                ibv_device_attr.max_ah(attr),
                ibv_device_attr.max_fmr(attr),
                ibv_device_attr.max_map_per_fmr(attr),
                ibv_device_attr.max_srq(attr),
                ibv_device_attr.max_srq_wr(attr),
                ibv_device_attr.max_srq_sge(attr),
                Short.toUnsignedInt(ibv_device_attr.max_pkeys(attr)),
                DurationCodes.exponential(
                        Byte.toUnsignedInt(ibv_device_attr.local_ca_ack_delay(attr))),
                VerbsEnumCodes.DEVICE_CAPABILITY.ofBits(ibv_device_attr.device_cap_flags(attr)),
                ibv_device_attr.device_cap_flags(attr));
    }

    /** Reads an {@link ibv_device_attr_ex}. */
    static ExtendedDeviceAttributes extended(MemorySegment attr) {
        var onDemand = ibv_device_attr_ex.odp_caps(attr);
        var transports = ibv_odp_caps.per_transport_caps(onDemand);
        var general = ibv_odp_caps.general_caps(onDemand);
        var segmentation = ibv_device_attr_ex.tso_caps(attr);
        var scaling = ibv_device_attr_ex.rss_caps(attr);
        var pacing = ibv_device_attr_ex.packet_pacing_caps(attr);
        var tags = ibv_device_attr_ex.tm_caps(attr);
        var moderation = ibv_device_attr_ex.cq_mod_caps(attr);
        return new ExtendedDeviceAttributes(
                (general & rdma_h.IBV_ODP_SUPPORT()) != 0,
                (general & rdma_h.IBV_ODP_SUPPORT_IMPLICIT()) != 0,
                ibv_odp_caps.per_transport_caps.rc_odp_caps(transports),
                ibv_odp_caps.per_transport_caps.uc_odp_caps(transports),
                ibv_odp_caps.per_transport_caps.ud_odp_caps(transports),
                ibv_device_attr_ex.xrc_odp_caps(attr),
                ibv_device_attr_ex.completion_timestamp_mask(attr),
                ibv_device_attr_ex.hca_core_clock(attr),
                ibv_tso_caps.max_tso(segmentation),
                ibv_tso_caps.supported_qpts(segmentation),
                new ReceiveSideScaling(
                        ibv_rss_caps.supported_qpts(scaling),
                        ibv_rss_caps.max_rwq_indirection_tables(scaling),
                        ibv_rss_caps.max_rwq_indirection_table_size(scaling),
                        ibv_rss_caps.rx_hash_fields_mask(scaling),
                        Byte.toUnsignedInt(ibv_rss_caps.rx_hash_function(scaling))),
                ibv_device_attr_ex.max_wq_type_rq(attr),
                new PacketPacing(
                        Integer.toUnsignedLong(ibv_packet_pacing_caps.qp_rate_limit_min(pacing)),
                        Integer.toUnsignedLong(ibv_packet_pacing_caps.qp_rate_limit_max(pacing)),
                        ibv_packet_pacing_caps.supported_qpts(pacing)),
                new TagMatching(
                        ibv_tm_caps.max_rndv_hdr_size(tags),
                        ibv_tm_caps.max_num_tags(tags),
                        ibv_tm_caps.flags(tags),
                        ibv_tm_caps.max_ops(tags),
                        ibv_tm_caps.max_sge(tags)),
                Short.toUnsignedInt(ibv_cq_moderation_caps.max_cq_count(moderation)),
                Short.toUnsignedInt(ibv_cq_moderation_caps.max_cq_period(moderation)),
                ibv_device_attr_ex.max_dm_size(attr),
                ibv_device_attr_ex.raw_packet_caps(attr),
                ibv_device_attr_ex.device_cap_flags_ex(attr));
    }

    /** Reads an {@link ibv_port_attr}. */
    static PortAttributes port(int port, MemorySegment attr) {
        var newSpeed = ibv_port_attr.active_speed_ex(attr);
        return new PortAttributes(
                port,
                VerbsEnumCodes.PORT_STATE.of(ibv_port_attr.state(attr)),
                VerbsEnumCodes.LINK_LAYER.of(ibv_port_attr.link_layer(attr)),
                VerbsEnumCodes.MTU.of(ibv_port_attr.max_mtu(attr)),
                VerbsEnumCodes.MTU.of(ibv_port_attr.active_mtu(attr)),
                ibv_port_attr.gid_tbl_len(attr),
                Short.toUnsignedInt(ibv_port_attr.pkey_tbl_len(attr)),
                Integer.toUnsignedLong(ibv_port_attr.max_msg_sz(attr)),
                Short.toUnsignedInt(ibv_port_attr.lid(attr)),
                Short.toUnsignedInt(ibv_port_attr.sm_lid(attr)),
                ibv_port_attr.lmc(attr),
                Byte.toUnsignedInt(ibv_port_attr.active_width(attr)),
                newSpeed == 0 ? Byte.toUnsignedInt(ibv_port_attr.active_speed(attr)) : newSpeed,
                Byte.toUnsignedInt(ibv_port_attr.phys_state(attr)),
                ibv_port_attr.port_cap_flags(attr),
                Short.toUnsignedInt(ibv_port_attr.port_cap_flags2(attr)),
                Byte.toUnsignedInt(ibv_port_attr.max_vl_num(attr)),
                ibv_port_attr.bad_pkey_cntr(attr),
                ibv_port_attr.qkey_viol_cntr(attr),
                Byte.toUnsignedInt(ibv_port_attr.sm_sl(attr)),
                DurationCodes.exponential(Byte.toUnsignedInt(ibv_port_attr.subnet_timeout(attr))),
                Byte.toUnsignedInt(ibv_port_attr.init_type_reply(attr)));
    }
}
