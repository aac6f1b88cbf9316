package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_ah_attr;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Gids;
import org.jrdma.soft.roce.abi.PathMtu;

/**
 * The members of an {@code ibv_qp_attr}, each with its bit in the mask and the values it may have.
 */
enum QueuePairAttributes {
    ACCESS(
            rdma_h.IBV_QP_ACCESS_FLAGS(),
            ibv_qp_attr.qp_access_flags$offset(),
            Integer.BYTES,
            (attributes, mtu) -> true),
    PARTITION_KEY(
            rdma_h.IBV_QP_PKEY_INDEX(),
            ibv_qp_attr.pkey_index$offset(),
            Short.BYTES,
            (attributes, mtu) -> ibv_qp_attr.pkey_index(attributes) == 0),
    PORT(
            rdma_h.IBV_QP_PORT(),
            ibv_qp_attr.port_num$offset(),
            Byte.BYTES,
            (attributes, mtu) -> ibv_qp_attr.port_num(attributes) == DeviceLimits.PORT),
    QUEUE_KEY(
            rdma_h.IBV_QP_QKEY(),
            ibv_qp_attr.qkey$offset(),
            Integer.BYTES,
            (attributes, mtu) -> true),
    ADDRESS(
            rdma_h.IBV_QP_AV(),
            ibv_qp_attr.ah_attr$offset(),
            ibv_ah_attr.layout().byteSize(),
            (attributes, mtu) -> Gids.destination(ibv_qp_attr.ah_attr(attributes)) != null),
    PATH_MTU(
            rdma_h.IBV_QP_PATH_MTU(),
            ibv_qp_attr.path_mtu$offset(),
            Integer.BYTES,
            (attributes, mtu) -> PathMtu.bytes(ibv_qp_attr.path_mtu(attributes)) <= mtu),
    TIMEOUT(
            rdma_h.IBV_QP_TIMEOUT(),
            ibv_qp_attr.timeout$offset(),
            Byte.BYTES,
            (attributes, mtu) -> isUpTo(31, ibv_qp_attr.timeout(attributes))),
    RETRIES(
            rdma_h.IBV_QP_RETRY_CNT(),
            ibv_qp_attr.retry_cnt$offset(),
            Byte.BYTES,
            (attributes, mtu) -> isUpTo(7, ibv_qp_attr.retry_cnt(attributes))),
    NOT_READY_RETRIES(
            rdma_h.IBV_QP_RNR_RETRY(),
            ibv_qp_attr.rnr_retry$offset(),
            Byte.BYTES,
            (attributes, mtu) -> isUpTo(7, ibv_qp_attr.rnr_retry(attributes))),
    NOT_READY_TIMER(
            rdma_h.IBV_QP_MIN_RNR_TIMER(),
            ibv_qp_attr.min_rnr_timer$offset(),
            Byte.BYTES,
            (attributes, mtu) -> isUpTo(31, ibv_qp_attr.min_rnr_timer(attributes))),
    MAX_READS(
            rdma_h.IBV_QP_MAX_QP_RD_ATOMIC(),
            ibv_qp_attr.max_rd_atomic$offset(),
            Byte.BYTES,
            (attributes, mtu) ->
                    isUpTo(DeviceLimits.MAX_READS, ibv_qp_attr.max_rd_atomic(attributes))),
    MAX_DESTINATION_READS(
            rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC(),
            ibv_qp_attr.max_dest_rd_atomic$offset(),
            Byte.BYTES,
            (attributes, mtu) ->
                    isUpTo(DeviceLimits.MAX_READS, ibv_qp_attr.max_dest_rd_atomic(attributes))),
    RECEIVE_SEQUENCE(
            rdma_h.IBV_QP_RQ_PSN(),
            ibv_qp_attr.rq_psn$offset(),
            Integer.BYTES,
            (attributes, mtu) -> true),
    SEND_SEQUENCE(
            rdma_h.IBV_QP_SQ_PSN(),
            ibv_qp_attr.sq_psn$offset(),
            Integer.BYTES,
            (attributes, mtu) -> true),
    DESTINATION(
            rdma_h.IBV_QP_DEST_QPN(),
            ibv_qp_attr.dest_qp_num$offset(),
            Integer.BYTES,
            (attributes, mtu) -> true);

    private interface Check {
        boolean passes(MemorySegment attributes, int portMtu);
    }

    private final int bit;
    private final long offset;
    private final long bytes;

    @SuppressWarnings("ImmutableEnumChecker") // the checks have no state
    private final Check check;

    QueuePairAttributes(int bit, long offset, long bytes, Check check) {
        this.bit = bit;
        this.offset = offset;
        this.bytes = bytes;
        this.check = check;
    }

    private static boolean isUpTo(int most, byte value) {
        return Byte.toUnsignedInt(value) <= most;
    }

    /** Refuses values that the members named by a mask cannot have. */
    static void refuseUnlessPossible(MemorySegment attributes, int mask, int portMtu) {
        for (var attribute : values()) {
            ErrnoException.throwIf(
                    (mask & attribute.bit) != 0 && !attribute.check.passes(attributes, portMtu),
                    Errno.EINVAL);
        }
    }

    /** Copies the members named by a mask. */
    static void copy(MemorySegment source, int mask, MemorySegment target) {
        for (var attribute : values()) {
            if ((mask & attribute.bit) != 0) {
                MemorySegment.copy(
                        source, attribute.offset, target, attribute.offset, attribute.bytes);
            }
        }
    }

    /** As it is after RESET. */
    static void clear(MemorySegment target) {
        for (var attribute : values()) {
            target.asSlice(attribute.offset, attribute.bytes).fill((byte) 0);
        }
    }
}
