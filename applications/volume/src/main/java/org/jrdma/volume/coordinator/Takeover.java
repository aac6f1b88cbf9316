package org.jrdma.volume.coordinator;

import java.time.Duration;
import java.util.Optional;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.CoordinatorLease;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.metadata.Superblock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes this node the coordinator whenever no other node is, and renews its lease.
 *
 * <p>The node observes the lease record. If the record can be taken, the node takes it, excludes
 * its predecessor from the drive, and starts a {@link Coordinator} in the next epoch. If that ends,
 * the node observes again.
 */
public final class Takeover implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Takeover.class);
    private static final int STEPS_PER_LEASE = 10;

    private final Drive drive;
    private final Fence fence;
    private final long key;
    private final Duration sessionTimeout;
    private final CoordinatorLease record;
    private final Thread thread;
    private volatile @Nullable Coordinator coordinator;
    private volatile boolean isClosed;

    /** True if this node may be registered at the fence. */
    private boolean isRegistered;

    /** True after a failure that was logged. */
    private boolean isFailing;

    /**
     * Starts to observe the lease record.
     *
     * @param key the key of this node for the fence
     * @param leaseDuration the time after which a coordinator that does not renew its lease has
     *     lost its role
     * @throws FabricException if the drive fails or contains no volume, or the last coordinator had
     *     other timeouts and sessions
     */
    public Takeover(
            Drive drive, Fence fence, long key, Duration leaseDuration, Duration sessionTimeout)
            throws FabricException {
        this.drive = drive;
        this.fence = fence;
        this.key = key;
        this.sessionTimeout = sessionTimeout;
        this.record =
                new CoordinatorLease(
                        drive,
                        Superblock.read(drive).leaseBlock(),
                        CoordinatorLease.Timeouts.of(leaseDuration, sessionTimeout));
        var _ = record.observe(); // throws an exception if the timeouts differ
        this.thread = Thread.ofPlatform().daemon().name("volume-takeover").start(this::run);
    }

    /** Returns the coordinator in this process; empty while another node is the coordinator. */
    public Optional<Coordinator> coordinator() {
        return Optional.ofNullable(coordinator);
    }

    /** Returns true if another node has recently renewed its lease as the coordinator. */
    public boolean hasOtherCoordinator() {
        return coordinator == null && record.isRenewed();
    }

    private void run() {
        while (!isClosed) {
            try {
                step();
                isFailing = false;
                Thread.sleep(record.duration().dividedBy(STEPS_PER_LEASE));
            } catch (FabricException | RuntimeException e) {
                if (!isFailing) {
                    LOG.warn(
                            "The coordinator or standby failed, and continues as a standby: {}",
                            e.toString());
                }
                isFailing = true;
                endCoordinator();
                unregister();
                pause();
            } catch (InterruptedException e) {
                break; // close()
            }
        }
        var current = coordinator;
        endCoordinator();
        if (current != null) {
            release(current);
        }
    }

    private void pause() {
        try {
            Thread.sleep(record.duration().dividedBy(STEPS_PER_LEASE));
        } catch (InterruptedException e) {
            isClosed = true;
        }
    }

    private void step() throws FabricException, InterruptedException {
        var current = coordinator;
        if (current != null && !current.ended().isDone()) {
            record.renew();
        } else if (current != null) {
            endCoordinator();
            release(current);
        } else if (record.observe()) {
            takeOver();
        } else {
            unregister();
        }
    }

    /** Removes the registration. Otherwise, the drive would accept the writes of this standby. */
    private void unregister() {
        try {
            if (isRegistered) {
                fence.unregister(key);
                isRegistered = false;
            }
        } catch (FabricException | RuntimeException e) {
            LOG.debug("The registration is removed later: {}", e.getMessage());
        }
    }

    private void takeOver() throws FabricException, InterruptedException {
        var predecessor = record.observed().orElseThrow();
        isRegistered = true;
        fence.register(key); // this node may have been excluded when it lost an earlier term
        drive.flush(); // a node whose flushes fail would only delay the takeover of another node
        if (!record.observe()) { // the registration or the flush can take long
            return;
        }
        var taken = record.tryTake(key);
        if (taken.isEmpty()) {
            LOG.info("Another node has taken the lease, or the drive needs too long to write it");
            return;
        }
        var epoch = taken.get().epoch();
        LOG.info("Taking over in epoch {}", epoch);
        record.check(); // the fence would exclude a successor
        fence.lead(key, predecessor.key());
        record.renew();
        coordinator = startCoordinator(epoch);
    }

    /**
     * Renews the lease while the coordinator reads the journal, which can take longer. The renewals
     * have a virtual thread, because an NVMe drive creates a queue for each new platform thread,
     * which can take longer than the lease, too.
     */
    private Coordinator startCoordinator(long epoch) throws FabricException {
        var renewals = Thread.ofVirtual().name("volume-renewal").start(this::renew);
        try {
            return new Coordinator(drive, fence, epoch, sessionTimeout, record::check);
        } finally {
            renewals.interrupt();
        }
    }

    private void renew() {
        try {
            while (true) {
                Thread.sleep(record.duration().dividedBy(STEPS_PER_LEASE));
                record.renew();
            }
        } catch (FabricException e) {
            LOG.info("The lease is not renewed: {}", e.getMessage()); // the coordinator checks it
        } catch (InterruptedException _) {
            // the coordinator has started
        }
    }

    private void endCoordinator() {
        var current = coordinator;
        if (current != null) {
            current.close();
            coordinator = null;
        }
    }

    private void release(Coordinator ended) {
        try {
            record.release(ended.hasSessions());
        } catch (FabricException e) {
            LOG.info("The lease was not released, and ends by itself: {}", e.getMessage());
        }
    }

    /** Ends the coordinator, and releases the lease, so that a standby takes over at once. */
    @Override
    public void close() {
        isClosed = true;
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
