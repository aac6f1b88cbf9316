package org.jrdma.volume.drive;

import java.util.OptionalLong;
import java.util.Set;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.NvmeException;
import org.jrdma.nvme.NvmeReservations;
import org.jrdma.nvme.model.ReservationReport.Registrant;
import org.jrdma.nvme.model.ReservationType;

/**
 * The fence of an NVMe namespace: the drive refuses the writes of hosts that are not registered.
 */
final class ReservationFence implements Fence {

    private static final ReservationType TYPE = ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY;

    /** Checks that a node may be registered. */
    @FunctionalInterface
    interface Guard {
        /** Throws an exception if an earlier write of this node may take effect later. */
        void check() throws FabricException;
    }

    private final NvmeReservations reservations;
    private final Guard guard;

    ReservationFence(NvmeReservations reservations, Guard guard) {
        this.reservations = reservations;
        this.guard = guard;
    }

    @Override
    public void register(long key) throws FabricException {
        guard.check();
        reservations.registerOrReplace(key);
    }

    @Override
    public void unregister(long key) throws FabricException {
        for (var registrant : reservations.report().registrants()) {
            if (isOwn(registrant) && registrant.key() == key && !registrant.isHolder()) {
                reservations.unregister(key);
            }
        }
    }

    private boolean isOwn(Registrant registrant) {
        return registrant.host().equals(reservations.host());
    }

    @Override
    public void lead(long key, long predecessor) throws FabricException {
        register(key);
        if (predecessor != key) {
            var _ = exclude(predecessor);
        }
        var report = reservations.report();
        for (var registrant : report.registrants()) {
            if (registrant.isHolder() && registrant.key() != key) {
                reservations.preempt(key, registrant.key(), TYPE); // an earlier coordinator
            }
        }
        reservations.acquire(key, TYPE);
    }

    @Override
    public boolean exclude(long key) throws FabricException {
        var registrants = reservations.report().registrants();
        var own = // read from the drive, which this node may have opened again since it registered
                registrants.stream().filter(this::isOwn).mapToLong(Registrant::key).findAny();
        if (registrants.stream().noneMatch(registrant -> registrant.key() == key)
                || own.equals(OptionalLong.of(key))) {
            return false; // a node that registers with another key may still be writing
        }
        try {
            reservations.preempt(own.orElse(0), key, TYPE);
            return true;
        } catch (NvmeException e) {
            if (own.isEmpty() || !Fence.isRefusal(e)) {
                throw e;
            }
            return exclude(key); // one of the nodes is no longer registered
        }
    }

    @Override
    public void excludeUnknown(Set<Long> known) throws FabricException {
        for (var registrant : reservations.report().registrants()) {
            if (!isOwn(registrant) && !known.contains(registrant.key())) {
                var _ = exclude(registrant.key());
            }
        }
    }

    @Override
    public String toString() {
        return reservations.toString();
    }
}
