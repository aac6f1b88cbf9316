package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.function.Function;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.ReservationAction;
import org.jrdma.nvme.model.ReservationReport;
import org.jrdma.nvme.model.ReservationType;
import org.jrdma.nvme.model.Status;

/**
 * The reservations of a namespace, by which hosts that share the namespace exclude each other. A
 * host registers a key, and then acquires the reservation of the namespace. The controller refuses
 * the commands that a reservation of another host forbids, with the status {@link
 * Status#RESERVATION_CONFLICT}. A host is identified by {@link NvmeOptions#hostIdentifier()}: two
 * programs that share a controller are the same host.
 *
 * <p>To exclude a host that has failed or does not respond, {@linkplain #preempt preempt} its key.
 * When the method returns, the commands of the host have completed or were aborted, and the
 * controller refuses its further commands according to the type of the reservation.
 *
 * <p>Each method creates an I/O queue for its command, and deletes it afterwards. The method blocks
 * for up to {@link NvmeOptions#adminTimeout()} for each of these steps, and throws a {@link
 * NvmeException} with the status if the controller refuses the command, or a {@link
 * FabricException} if no queue is free or the controller fails. After a timeout or an interrupt,
 * the command may have been executed: read the {@linkplain #report() report}. A controller on PCIe
 * does not execute the command after the method has returned, unless the controller has failed. A
 * controller on a network may still execute the command.
 *
 * <p>Safe for use by multiple threads.
 */
public final class NvmeReservations {

    private static final int KEYS_BYTES = 16;

    /** The size of the memory for a report, in which 510 registrants have room. */
    private static final int REPORT_BYTES = 8 * Configuration.PAGE_BYTES;

    private static final ValueLayout.OfLong LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final NvmeDrive drive;
    private final NvmeNamespace namespace;

    NvmeReservations(NvmeDrive drive, NvmeNamespace namespace) {
        this.drive = drive;
        this.namespace = namespace;
    }

    /**
     * Registers a key of this host.
     *
     * @param key the key. Several hosts can register the same key
     * @throws NvmeException with {@link Status#RESERVATION_CONFLICT} if this host has registered
     *     another key
     */
    public void register(long key) throws FabricException {
        execute(IoOpcode.RESERVATION_REGISTER, ReservationAction.REGISTER, 0, key);
    }

    /**
     * Registers a key of this host, and replaces a key that this host has registered before, for
     * example before a restart. A reservation of this host remains.
     */
    public void registerOrReplace(long key) throws FabricException {
        execute(
                IoOpcode.RESERVATION_REGISTER,
                ReservationAction.REPLACE | ReservationAction.IGNORE_KEY,
                0,
                key);
    }

    /**
     * Removes the registration of this host, and releases a reservation that this host holds.
     *
     * @throws NvmeException with {@link Status#RESERVATION_CONFLICT} if this host has not
     *     registered the key
     */
    public void unregister(long key) throws FabricException {
        execute(IoOpcode.RESERVATION_REGISTER, ReservationAction.UNREGISTER, key, 0);
    }

    /**
     * Acquires the reservation. Succeeds without effect if this host holds it with the same type.
     *
     * @param key the registered key of this host
     * @throws NvmeException with {@link Status#RESERVATION_CONFLICT} if this host has not
     *     registered the key, or the namespace is reserved by another host or with another type
     */
    public void acquire(long key, ReservationType type) throws FabricException {
        execute(
                IoOpcode.RESERVATION_ACQUIRE,
                ReservationAction.encode(ReservationAction.ACQUIRE, type),
                key,
                0);
    }

    /**
     * Removes all other registrations of a key, and aborts the pending commands of their hosts. If
     * one of them holds the reservation, this host gets it.
     *
     * @param key the registered key of this host
     * @param preemptedKey the key of the hosts to remove; 0 to take a reservation that is held by
     *     all registrants, and to remove all of them
     * @param type the type of the reservation that this host gets
     * @throws NvmeException with {@link Status#RESERVATION_CONFLICT} if this host has not
     *     registered the key, or no host has registered the preempted key
     */
    public void preempt(long key, long preemptedKey, ReservationType type) throws FabricException {
        execute(
                IoOpcode.RESERVATION_ACQUIRE,
                ReservationAction.encode(ReservationAction.PREEMPT_AND_ABORT, type),
                key,
                preemptedKey);
    }

    /**
     * Releases the reservation. Succeeds without effect if this host does not hold it.
     *
     * @param key the registered key of this host
     * @param type the type of the reservation
     * @throws NvmeException with {@link Status#RESERVATION_CONFLICT} if this host has not
     *     registered the key, or with {@link Status#INVALID_FIELD} if the type differs
     */
    public void release(long key, ReservationType type) throws FabricException {
        execute(
                IoOpcode.RESERVATION_RELEASE,
                ReservationAction.encode(ReservationAction.RELEASE, type),
                key,
                0);
    }

    /**
     * Releases the reservation of any host, and removes all registrations.
     *
     * @param key the registered key of this host
     * @throws NvmeException with {@link Status#RESERVATION_CONFLICT} if this host has not
     *     registered the key
     */
    public void clear(long key) throws FabricException {
        execute(IoOpcode.RESERVATION_RELEASE, ReservationAction.CLEAR, key, 0);
    }

    /** Returns the identifier of this host, as it is in a {@link #report()}. */
    public HostIdentifier host() {
        return drive.controller().options().hostIdentifier();
    }

    /**
     * Reads the registrants and the reservation. Registrants after the first 510 are omitted.
     *
     * @throws FabricException if the controller refuses the command or fails
     */
    public ReservationReport report() throws FabricException {
        var isExtended = host().isExtended();
        try {
            return report(isExtended);
        } catch (NvmeException e) {
            // registrants of the same drive have identifiers of the other size
            if (e.code() == Status.HOST_IDENTIFIER_FORMAT.typeAndCode()) {
                return report(!isExtended);
            }
            throw e;
        }
    }

    private ReservationReport report(boolean isExtended) throws FabricException {
        var bytes = Math.min(REPORT_BYTES, drive.maxTransferBytes());
        var dwords = bytes / Integer.BYTES - 1L;
        if (isExtended) {
            dwords |= (long) HostIdentifier.EXTENDED << Integer.SIZE;
        }
        try (var memory = drive.newMemory(bytes)) {
            return execute(
                    IoOpcode.RESERVATION_REPORT,
                    dwords,
                    memory,
                    bytes,
                    data -> ReservationReport.decode(data.segment(), isExtended));
        }
    }

    private void execute(int opcode, int dword10, long key, long secondKey) throws FabricException {
        try (var memory = drive.newMemory(KEYS_BYTES)) {
            memory.segment().set(LONG, 0, key);
            memory.segment().set(LONG, Long.BYTES, secondKey);
            execute(opcode, dword10, memory, KEYS_BYTES, data -> data);
        }
    }

    private <T> T execute(
            int opcode, long dwords, DmaMemory memory, int bytes, Function<DmaMemory, T> decoder)
            throws FabricException {
        try (var queue = drive.newQueue(1)) {
            var _ = queue.reserve(opcode, namespace, dwords, memory, bytes);
            queue.await(drive.controller().options().adminTimeout());
            if (!queue.succeeded()) {
                throw queue.failure();
            }
            return decoder.apply(memory);
        }
    }

    /** Returns the name of the reservations for messages. */
    @Override
    public String toString() {
        return "reservations of namespace %d of %s".formatted(namespace.id(), drive);
    }
}
