package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.GidCodec;
import org.jrdma.soft.roce.abi.PathMtu;

/**
 * The members of an {@code ibv_qp_attr} that {@code ibv_modify_qp} can set, each with its bit in
 * the attribute mask and a check of its value.
 */
enum QueuePairAttributeMember {
    ACCESS(rdma_h.IBV_QP_ACCESS_FLAGS(), "qp_access_flags", any()),
    PARTITION_KEY(
            rdma_h.IBV_QP_PKEY_INDEX(),
            "pkey_index",
            (value, _) -> value.get(ValueLayout.JAVA_SHORT, 0) == 0),
    PORT(
            rdma_h.IBV_QP_PORT(),
            "port_num",
            (value, _) -> value.get(ValueLayout.JAVA_BYTE, 0) == DeviceLimits.PORT),
    QUEUE_KEY(rdma_h.IBV_QP_QKEY(), "qkey", any()),
    ADDRESS(rdma_h.IBV_QP_AV(), "ah_attr", (value, _) -> GidCodec.destination(value) != null),
    PATH_MTU(
            rdma_h.IBV_QP_PATH_MTU(),
            "path_mtu",
            (value, mtu) -> PathMtu.bytes(value.get(ValueLayout.JAVA_INT, 0)) <= mtu),
    TIMEOUT(rdma_h.IBV_QP_TIMEOUT(), "timeout", upTo(31)),
    RETRIES(rdma_h.IBV_QP_RETRY_CNT(), "retry_cnt", upTo(7)),
    NOT_READY_RETRIES(rdma_h.IBV_QP_RNR_RETRY(), "rnr_retry", upTo(7)),
    NOT_READY_TIMER(rdma_h.IBV_QP_MIN_RNR_TIMER(), "min_rnr_timer", upTo(31)),
    MAX_READS(rdma_h.IBV_QP_MAX_QP_RD_ATOMIC(), "max_rd_atomic", upTo(DeviceLimits.MAX_READS)),
    MAX_DESTINATION_READS(
            rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC(), "max_dest_rd_atomic", upTo(DeviceLimits.MAX_READS)),
    RECEIVE_SEQUENCE(rdma_h.IBV_QP_RQ_PSN(), "rq_psn", any()),
    SEND_SEQUENCE(rdma_h.IBV_QP_SQ_PSN(), "sq_psn", any()),
    DESTINATION(rdma_h.IBV_QP_DEST_QPN(), "dest_qp_num", any());

    private interface Check {
        boolean passes(MemorySegment value, int portMtu);
    }

    private final int bit;
    private final long offset;
    private final long bytes;

    // The checks are immutable because they have no state.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Check check;

    QueuePairAttributeMember(int bit, String member, Check check) {
        var path = PathElement.groupElement(member);
        this.bit = bit;
        this.offset = ibv_qp_attr.layout().byteOffset(path);
        this.bytes = ibv_qp_attr.layout().select(path).byteSize();
        this.check = check;
    }

    private static Check any() {
        return (_, _) -> true;
    }

    private static Check upTo(int max) {
        return (value, _) -> Byte.toUnsignedInt(value.get(ValueLayout.JAVA_BYTE, 0)) <= max;
    }

    /**
     * Checks the values of the members whose bits are set in a mask.
     *
     * @param attributes an {@code ibv_qp_attr}
     * @param portMtu the maximum path MTU of the port in bytes
     * @throws ErrnoException with {@code EINVAL} if a value is invalid
     */
    static void requireValid(MemorySegment attributes, int mask, int portMtu) {
        for (var attribute : values()) {
            ErrnoException.throwIf(
                    (mask & attribute.bit) != 0
                            && !attribute.check.passes(attribute.in(attributes), portMtu),
                    Errno.EINVAL);
        }
    }

    /** Copies the members whose bits are set in a mask. */
    static void copy(MemorySegment source, int mask, MemorySegment target) {
        for (var attribute : values()) {
            if ((mask & attribute.bit) != 0) {
                attribute.in(target).copyFrom(attribute.in(source));
            }
        }
    }

    /** Sets all members to 0, which is their value in the RESET state. */
    static void clear(MemorySegment target) {
        for (var attribute : values()) {
            attribute.in(target).fill((byte) 0);
        }
    }

    private MemorySegment in(MemorySegment attributes) {
        return attributes.asSlice(offset, bytes);
    }
}
