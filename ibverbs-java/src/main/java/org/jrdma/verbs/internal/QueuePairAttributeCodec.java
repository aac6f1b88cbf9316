package org.jrdma.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.verbs.model.AlternatePath;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.QueuePairAttribute;
import org.jrdma.verbs.model.QueuePairAttributes;
import org.jrdma.verbs.model.QueuePairChange;

/**
 * Converts between {@link ibv_qp_attr} and {@link QueuePairChange} or {@link QueuePairAttributes}.
 */
final class QueuePairAttributeCodec {

    private QueuePairAttributeCodec() {}

    /** Writes the attributes of a change and returns their mask. */
    static int write(MemorySegment attr, QueuePairChange change) {
        change.attributes().forEach(attribute -> write(attr, attribute, change));
        return VerbsEnumCodes.QUEUE_PAIR_ATTRIBUTE.bits(change.attributes());
    }

    private static void write(
            MemorySegment attr, QueuePairAttribute attribute, QueuePairChange change) {
        switch (attribute) {
            case STATE ->
                    ibv_qp_attr.qp_state(
                            attr, VerbsEnumCodes.QUEUE_PAIR_STATE.code(change.state()));
            case CURRENT_STATE ->
                    ibv_qp_attr.cur_qp_state(
                            attr, VerbsEnumCodes.QUEUE_PAIR_STATE.code(change.currentState()));
            case DRAIN_NOTIFICATION ->
                    ibv_qp_attr.en_sqd_async_notify(
                            attr, (byte) (change.drainNotification() ? 1 : 0));
            case ACCESS ->
                    ibv_qp_attr.qp_access_flags(
                            attr, VerbsEnumCodes.ACCESS.bits(change.accessRights()));
            case PARTITION_KEY_INDEX ->
                    ibv_qp_attr.pkey_index(attr, (short) change.partitionKeyIndex());
            case PORT -> ibv_qp_attr.port_num(attr, (byte) change.port());
            case ADDRESS -> AddressVectorCodec.write(ibv_qp_attr.ah_attr(attr), change.address());
            case PATH_MTU -> ibv_qp_attr.path_mtu(attr, VerbsEnumCodes.MTU.code(change.pathMtu()));
            case DESTINATION_NUMBER -> ibv_qp_attr.dest_qp_num(attr, change.destinationNumber());
            case RECEIVE_SEQUENCE -> ibv_qp_attr.rq_psn(attr, change.receiveSequence());
            case SEND_SEQUENCE -> ibv_qp_attr.sq_psn(attr, change.sendSequence());
            case MAX_DESTINATION_READS ->
                    ibv_qp_attr.max_dest_rd_atomic(attr, (byte) change.maxDestinationReads());
            case MAX_READS -> ibv_qp_attr.max_rd_atomic(attr, (byte) change.maxReads());
            case RECEIVER_NOT_READY_TIMER ->
                    ibv_qp_attr.min_rnr_timer(
                            attr,
                            DurationCodes.receiverNotReadyTimer(change.receiverNotReadyTimer()));
            case TIMEOUT ->
                    ibv_qp_attr.timeout(
                            attr, DurationCodes.acknowledgeTimeout(change.acknowledgeTimeout()));
            case RETRIES -> ibv_qp_attr.retry_cnt(attr, (byte) change.retries());
            case RECEIVER_NOT_READY_RETRIES ->
                    ibv_qp_attr.rnr_retry(attr, (byte) change.receiverNotReadyRetries());
            case PATH_MIGRATION_STATE ->
                    ibv_qp_attr.path_mig_state(
                            attr, VerbsEnumCodes.MIGRATION_STATE.code(change.migrationState()));
            case RATE_LIMIT -> ibv_qp_attr.rate_limit(attr, change.rateLimit());
            case QUEUE_KEY -> ibv_qp_attr.qkey(attr, change.queueKey());
            case ALTERNATE_PATH -> {
                var path = change.alternatePath();
                AddressVectorCodec.write(ibv_qp_attr.alt_ah_attr(attr), path.address());
                ibv_qp_attr.alt_pkey_index(attr, (short) path.partitionKeyIndex());
                ibv_qp_attr.alt_port_num(attr, (byte) path.address().port());
                ibv_qp_attr.alt_timeout(
                        attr, DurationCodes.acknowledgeTimeout(path.acknowledgeTimeout()));
            }
            case CAPACITIES -> throw new IllegalArgumentException(attribute + " cannot be changed");
        }
    }

    static QueuePairAttributes read(MemorySegment attr) {
        var room = QueuePairFunctions.Capacities.read(ibv_qp_attr.cap(attr));
        return new QueuePairAttributes(
                VerbsEnumCodes.QUEUE_PAIR_STATE.of(ibv_qp_attr.qp_state(attr)),
                readMtu(ibv_qp_attr.path_mtu(attr)),
                VerbsEnumCodes.MIGRATION_STATE.of(ibv_qp_attr.path_mig_state(attr)),
                ibv_qp_attr.rq_psn(attr),
                ibv_qp_attr.sq_psn(attr),
                ibv_qp_attr.dest_qp_num(attr),
                VerbsEnumCodes.ACCESS.ofBits(ibv_qp_attr.qp_access_flags(attr)),
                AddressVectorCodec.read(ibv_qp_attr.ah_attr(attr)),
                readAlternatePath(attr),
                Short.toUnsignedInt(ibv_qp_attr.pkey_index(attr)),
                ibv_qp_attr.qkey(attr),
                Byte.toUnsignedInt(ibv_qp_attr.port_num(attr)),
                Byte.toUnsignedInt(ibv_qp_attr.max_rd_atomic(attr)),
                Byte.toUnsignedInt(ibv_qp_attr.max_dest_rd_atomic(attr)),
                DurationCodes.receiverNotReadyTimer(ibv_qp_attr.min_rnr_timer(attr)),
                DurationCodes.acknowledgeTimeout(ibv_qp_attr.timeout(attr)),
                Byte.toUnsignedInt(ibv_qp_attr.retry_cnt(attr)),
                Byte.toUnsignedInt(ibv_qp_attr.rnr_retry(attr)),
                room.sends(),
                room.receives(),
                room.sendElements(),
                room.receiveElements(),
                room.inlineBytes());
    }

    /**
     * Reads a change that the connection manager supplies. Attributes that the API lacks are
     * ignored.
     *
     * @param mask the attributes that the structure contains
     */
    static QueuePairChange readChange(MemorySegment attr, int mask) {
        var change = QueuePairChange.fromConnectionManager();
        for (var attribute : VerbsEnumCodes.QUEUE_PAIR_ATTRIBUTE.ofBits(mask)) {
            change = with(change, attribute, attr);
        }
        return change;
    }

    private static QueuePairChange with(
            QueuePairChange change, QueuePairAttribute attribute, MemorySegment attr) {
        return switch (attribute) {
            case STATE ->
                    change.state(VerbsEnumCodes.QUEUE_PAIR_STATE.of(ibv_qp_attr.qp_state(attr)));
            case CURRENT_STATE ->
                    change.currentState(
                            VerbsEnumCodes.QUEUE_PAIR_STATE.of(ibv_qp_attr.cur_qp_state(attr)));
            case DRAIN_NOTIFICATION ->
                    change.drainNotification(ibv_qp_attr.en_sqd_async_notify(attr) != 0);
            case ACCESS ->
                    change.access(VerbsEnumCodes.ACCESS.ofBits(ibv_qp_attr.qp_access_flags(attr)));
            case PARTITION_KEY_INDEX ->
                    change.partitionKeyIndex(Short.toUnsignedInt(ibv_qp_attr.pkey_index(attr)));
            case PORT -> change.port(Byte.toUnsignedInt(ibv_qp_attr.port_num(attr)));
            case QUEUE_KEY -> change.queueKey(ibv_qp_attr.qkey(attr));
            case ADDRESS -> change.address(AddressVectorCodec.read(ibv_qp_attr.ah_attr(attr)));
            case PATH_MTU -> change.pathMtu(VerbsEnumCodes.MTU.of(ibv_qp_attr.path_mtu(attr)));
            case DESTINATION_NUMBER -> change.destinationNumber(ibv_qp_attr.dest_qp_num(attr));
            case RECEIVE_SEQUENCE -> change.receiveSequence(ibv_qp_attr.rq_psn(attr));
            case SEND_SEQUENCE -> change.sendSequence(ibv_qp_attr.sq_psn(attr));
            case MAX_DESTINATION_READS ->
                    change.maxDestinationReads(
                            Byte.toUnsignedInt(ibv_qp_attr.max_dest_rd_atomic(attr)));
            case MAX_READS -> change.maxReads(Byte.toUnsignedInt(ibv_qp_attr.max_rd_atomic(attr)));
            case RECEIVER_NOT_READY_TIMER ->
                    change.receiverNotReadyTimer(
                            DurationCodes.receiverNotReadyTimer(ibv_qp_attr.min_rnr_timer(attr)));
            case TIMEOUT ->
                    change.acknowledgeTimeout(
                            DurationCodes.acknowledgeTimeout(ibv_qp_attr.timeout(attr)));
            case RETRIES -> change.retries(Byte.toUnsignedInt(ibv_qp_attr.retry_cnt(attr)));
            case RECEIVER_NOT_READY_RETRIES ->
                    change.receiverNotReadyRetries(Byte.toUnsignedInt(ibv_qp_attr.rnr_retry(attr)));
            case RATE_LIMIT -> change.rateLimit(ibv_qp_attr.rate_limit(attr));
            case ALTERNATE_PATH ->
                    readAlternatePath(attr).map(change::alternatePath).orElse(change);
            case PATH_MIGRATION_STATE ->
                    change.migrationState(
                            VerbsEnumCodes.MIGRATION_STATE.of(ibv_qp_attr.path_mig_state(attr)));
            case CAPACITIES -> change;
        };
    }

    /**
     * Reads the alternate path. Empty if the port of the alternate path is 0. C stores this port
     * separately from the address.
     */
    private static Optional<AlternatePath> readAlternatePath(MemorySegment attr) {
        var port = Byte.toUnsignedInt(ibv_qp_attr.alt_port_num(attr));
        return port == 0
                ? Optional.empty()
                : Optional.of(
                        new AlternatePath(
                                AddressVectorCodec.read(ibv_qp_attr.alt_ah_attr(attr))
                                        .withPort(port),
                                Short.toUnsignedInt(ibv_qp_attr.alt_pkey_index(attr)),
                                DurationCodes.acknowledgeTimeout(ibv_qp_attr.alt_timeout(attr))));
    }

    /**
     * Reads the path MTU. Empty if the queue pair is not connected: the code is then 0 or
     * undefined.
     */
    private static Optional<Mtu> readMtu(int code) {
        return code < rdma_h.IBV_MTU_256() || code > rdma_h.IBV_MTU_4096()
                ? Optional.empty()
                : Optional.of(VerbsEnumCodes.MTU.of(code));
    }
}
