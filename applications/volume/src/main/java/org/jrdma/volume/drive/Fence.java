package org.jrdma.volume.drive;

import java.security.SecureRandom;
import java.util.List;
import java.util.Set;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.NvmeException;
import org.jrdma.nvme.model.Status;

/**
 * Excludes nodes from the writes of a drive.
 *
 * <p>A node registers with a key before it writes. A drive with reservations refuses the writes of
 * nodes whose key was removed. A drive without them, such as a file, cannot: each node must compare
 * its clock with the end of its lease before each write, and the node that excludes it must wait
 * until that lease has ended. A process that is suspended between the comparison and the write can
 * then still write later.
 */
public interface Fence {

    /** The fence of drives without reservations, which relies on clocks. */
    Fence BY_CLOCK = new ClockFence();

    /**
     * Allows the writes of this node.
     *
     * @param key identifies the node and its term; not 0
     * @throws FabricException if the drive fails
     */
    void register(long key) throws FabricException;

    /**
     * Removes the registration of this node, which no longer writes. Has no effect if this node is
     * not registered with the key, or leads: the registration of a coordinator remains until its
     * successor leads, because the drive would otherwise accept the writes of all nodes.
     *
     * @throws FabricException if the drive fails
     */
    void unregister(long key) throws FabricException;

    /**
     * Allows the writes of this node as the coordinator, and excludes its predecessor and all nodes
     * that have not registered.
     *
     * @param key identifies this node and its term; not 0
     * @param predecessor the key of the previous coordinator; 0 if there was none
     * @throws FabricException if the drive fails
     */
    void lead(long key, long predecessor) throws FabricException;

    /**
     * Excludes a node. If the drive enforces this, no write of that node takes effect after this
     * method has returned.
     *
     * @return false if the caller must wait for the end of the lease of that node
     * @throws FabricException if the drive fails, or {@linkplain #isRefusal refuses} this because
     *     another node has excluded the calling one
     */
    boolean exclude(long key) throws FabricException;

    /**
     * Excludes all other nodes that are registered with keys that the coordinator does not know,
     * such as standbys that tried to become the coordinator.
     *
     * @param known the keys of the nodes that may write
     * @throws FabricException as {@link #exclude}
     */
    void excludeUnknown(Set<Long> known) throws FabricException;

    /** Returns a key that no other node has. */
    static long randomKey() {
        return new SecureRandom().nextLong() | 1;
    }

    /** Returns true if a drive has refused an access, because its node may not write. */
    static boolean isRefusal(Throwable failure) {
        for (var cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof NvmeException refusal
                    && refusal.status().filter(Status.RESERVATION_CONFLICT::equals).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the fence of a drive that consists of several drives. */
    static Fence ofAll(List<Drive> drives) {
        return new DriveGroupFence(drives.stream().map(Drive::fence).toList());
    }
}
