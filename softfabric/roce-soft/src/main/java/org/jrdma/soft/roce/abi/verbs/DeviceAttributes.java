package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_cq_moderation_caps;
import org.jrdma.abi.rdma.ibv_device_attr;
import org.jrdma.abi.rdma.ibv_device_attr_ex;
import org.jrdma.abi.rdma.ibv_odp_caps;
import org.jrdma.abi.rdma.ibv_port_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.PathMtu;
import org.jrdma.soft.roce.engine.MessageLimits;
import org.jrdma.soft.roce.packet.BigEndian;

/** Creates the structures with the device and port attributes that the query functions return. */
final class DeviceAttributes {

    /** The frequency of {@link DeviceLimits#clock} in kHz. The clock counts nanoseconds. */
    private static final int CLOCK_KILOHERTZ = 1_000_000;

    private static final int MANY = 1 << 20;
    private static final int MAX_GROUPS = 1_024;
    private static final int MANY_MEMBERS = 1_024;

    private static final int LINK_UP = 5;
    private static final int DISABLED = 3;
    private static final int ONE_LANE = 1;
    private static final int SINGLE_DATA_RATE = 1;

    private DeviceAttributes() {}

    /** Returns an {@code ibv_device_attr}. */
    static MemorySegment device(ContextObject context) {
        var attributes = ibv_device_attr.allocate(Arena.ofAuto());
        fill(attributes, context);
        return attributes;
    }

    private static void fill(MemorySegment attributes, ContextObject context) {
        ibv_device_attr.fw_ver(attributes).setString(0, "jrdma");
        ibv_device_attr.node_guid(attributes, BigEndian.swap(context.device().guid()));
        ibv_device_attr.sys_image_guid(attributes, BigEndian.swap(context.device().guid()));
        ibv_device_attr.max_mr_size(attributes, Long.MAX_VALUE);
        ibv_device_attr.page_size_cap(attributes, DeviceLimits.PAGE_BYTES);
        ibv_device_attr.max_qp(attributes, DeviceLimits.MAX_QUEUE_PAIRS);
        ibv_device_attr.max_qp_wr(attributes, DeviceLimits.MAX_REQUESTS);
        ibv_device_attr.device_cap_flags(
                attributes,
                rdma_h.IBV_DEVICE_CURR_QP_STATE_MOD()
                        | rdma_h.IBV_DEVICE_PORT_ACTIVE_EVENT()
                        | rdma_h.IBV_DEVICE_SYS_IMAGE_GUID()
                        | rdma_h.IBV_DEVICE_RC_RNR_NAK_GEN()
                        | rdma_h.IBV_DEVICE_SRQ_RESIZE()
                        | rdma_h.IBV_DEVICE_XRC()
                        | rdma_h.IBV_DEVICE_MEM_MGT_EXTENSIONS()
                        | rdma_h.IBV_DEVICE_MEM_WINDOW()
                        | rdma_h.IBV_DEVICE_MEM_WINDOW_TYPE_2B());
        ibv_device_attr.max_sge(attributes, DeviceLimits.MAX_ELEMENTS);
        ibv_device_attr.max_sge_rd(attributes, DeviceLimits.MAX_ELEMENTS);
        ibv_device_attr.max_cq(attributes, MANY);
        ibv_device_attr.max_cqe(attributes, DeviceLimits.MAX_COMPLETIONS);
        ibv_device_attr.max_mr(attributes, MANY);
        ibv_device_attr.max_mw(attributes, MANY);
        ibv_device_attr.max_pd(attributes, MANY);
        ibv_device_attr.max_qp_rd_atom(attributes, DeviceLimits.MAX_READS);
        ibv_device_attr.max_qp_init_rd_atom(attributes, DeviceLimits.MAX_READS);
        ibv_device_attr.max_res_rd_atom(
                attributes, DeviceLimits.MAX_READS * DeviceLimits.MAX_QUEUE_PAIRS);
        ibv_device_attr.atomic_cap(attributes, rdma_h.IBV_ATOMIC_GLOB());
        ibv_device_attr.max_mcast_grp(attributes, MAX_GROUPS);
        ibv_device_attr.max_mcast_qp_attach(attributes, MANY_MEMBERS);
        ibv_device_attr.max_total_mcast_qp_attach(attributes, MAX_GROUPS * MANY_MEMBERS);
        ibv_device_attr.max_ah(attributes, MANY);
        ibv_device_attr.max_srq(attributes, MANY);
        ibv_device_attr.max_srq_wr(attributes, DeviceLimits.MAX_REQUESTS);
        ibv_device_attr.max_srq_sge(attributes, DeviceLimits.MAX_ELEMENTS);
        ibv_device_attr.max_pkeys(attributes, (short) DeviceLimits.PARTITION_KEYS);
        ibv_device_attr.phys_port_cnt(attributes, (byte) 1);
    }

    /** Returns an {@code ibv_device_attr_ex}. */
    static MemorySegment extendedDevice(ContextObject context) {
        var attributes = ibv_device_attr_ex.allocate(Arena.ofAuto());
        fill(ibv_device_attr_ex.orig_attr(attributes), context);
        // On-demand paging needs no preparation: this library accesses memory through ordinary
        // loads and stores, so the pages need not be resident.
        var onDemand = ibv_device_attr_ex.odp_caps(attributes);
        ibv_odp_caps.general_caps(onDemand, rdma_h.IBV_ODP_SUPPORT());
        var transports = ibv_odp_caps.per_transport_caps(onDemand);
        var messages =
                rdma_h.IBV_ODP_SUPPORT_SEND()
                        | rdma_h.IBV_ODP_SUPPORT_RECV()
                        | rdma_h.IBV_ODP_SUPPORT_SRQ_RECV();
        var connected = messages | rdma_h.IBV_ODP_SUPPORT_WRITE();
        ibv_odp_caps.per_transport_caps.ud_odp_caps(transports, messages);
        ibv_odp_caps.per_transport_caps.uc_odp_caps(transports, connected);
        var reliable = connected | rdma_h.IBV_ODP_SUPPORT_READ() | rdma_h.IBV_ODP_SUPPORT_ATOMIC();
        ibv_odp_caps.per_transport_caps.rc_odp_caps(transports, reliable);
        ibv_device_attr_ex.xrc_odp_caps(attributes, reliable);
        ibv_device_attr_ex.device_cap_flags_ex(
                attributes,
                ibv_device_attr.device_cap_flags(ibv_device_attr_ex.orig_attr(attributes)));
        ibv_device_attr_ex.phys_port_cnt_ex(attributes, 1);
        ibv_device_attr_ex.completion_timestamp_mask(attributes, -1L);
        ibv_device_attr_ex.hca_core_clock(attributes, CLOCK_KILOHERTZ);
        ibv_device_attr_ex.max_dm_size(attributes, DeviceMemoryObject.MAX_BYTES);
        var moderation = ibv_device_attr_ex.cq_mod_caps(attributes);
        ibv_cq_moderation_caps.max_cq_count(moderation, (short) 0xffff);
        ibv_cq_moderation_caps.max_cq_period(moderation, (short) 0xffff);
        return attributes;
    }

    /**
     * Returns an {@code ibv_port_attr}.
     *
     * @throws ErrnoException with {@code EINVAL} if the device has no port with this number
     */
    static MemorySegment port(ContextObject context, int port) {
        DeviceLimits.requirePort(port);
        var attributes = ibv_port_attr.allocate(Arena.ofAuto());
        var up = context.device().isLinkUp();
        ibv_port_attr.state(attributes, up ? rdma_h.IBV_PORT_ACTIVE() : rdma_h.IBV_PORT_DOWN());
        ibv_port_attr.max_mtu(attributes, rdma_h.IBV_MTU_4096());
        ibv_port_attr.active_mtu(attributes, PathMtu.code(context.port().pathMtu()));
        ibv_port_attr.gid_tbl_len(attributes, DeviceLimits.GIDS);
        ibv_port_attr.max_msg_sz(attributes, (int) MessageLimits.MAX_BYTES);
        ibv_port_attr.pkey_tbl_len(attributes, (short) DeviceLimits.PARTITION_KEYS);
        ibv_port_attr.max_vl_num(attributes, (byte) 1);
        ibv_port_attr.active_width(attributes, (byte) ONE_LANE);
        ibv_port_attr.active_speed(attributes, (byte) SINGLE_DATA_RATE);
        ibv_port_attr.phys_state(attributes, (byte) (up ? LINK_UP : DISABLED));
        ibv_port_attr.link_layer(attributes, (byte) rdma_h.IBV_LINK_LAYER_ETHERNET());
        return attributes;
    }
}
