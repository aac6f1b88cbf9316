package org.jrdma.volume.client;

import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Fence;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registration of a client at the fence of its drive, with another key for each session.
 *
 * <p>A key is registered while no access to the drive is in progress. Otherwise, a late access of a
 * session that has ended could take effect because of the key of the next session. Safe for use by
 * multiple threads.
 */
final class DriveRegistration {

    private static final Logger LOG = LoggerFactory.getLogger(DriveRegistration.class);

    private static final long NONE = -1;

    private final String client;
    private final Optional<Fence> fence;
    private final ReentrantReadWriteLock accesses = new ReentrantReadWriteLock();
    private long key = Fence.randomKey();

    /** The epoch in which the key was registered; -1 if it was not. */
    private long registeredIn = NONE;

    /** The epoch in which the registration has failed; -1 if it has not. */
    private long failedIn = NONE;

    private boolean isEnded;

    /**
     * @param fence the fence; empty if the client has no drive, or registers no key
     */
    DriveRegistration(String client, Optional<Fence> fence) {
        this.client = client;
        this.fence = fence;
    }

    /** Returns the key of the current session; 0 if this client registers none. */
    synchronized long key() {
        return fence.isPresent() ? key : 0;
    }

    /** Selects another key, because the session has ended. */
    synchronized void selectKey() {
        key = Fence.randomKey();
        registeredIn = NONE;
        failedIn = NONE;
    }

    /**
     * Registers the key, once in each epoch: a coordinator excludes the nodes that have the same
     * registration as its predecessor. Waits for accesses in progress. The coordinator has
     * confirmed the session.
     */
    synchronized void register(long epoch) {
        if (isEnded || fence.isEmpty() || registeredIn == epoch) {
            return;
        }
        accesses.writeLock().lock();
        try {
            fence.get().register(key);
            registeredIn = epoch;
            failedIn = NONE;
        } catch (FabricException e) {
            failedIn = epoch;
            LOG.info("{} is not registered at its drive: {}", client, e.getMessage());
        } finally {
            accesses.writeLock().unlock();
        }
    }

    /** Returns true if a key may be registered. */
    synchronized boolean isRegistered() {
        return registeredIn != NONE;
    }

    /** Records that the coordinator has excluded this client, which then registers again. */
    synchronized void excluded() {
        failedIn = registeredIn;
        registeredIn = NONE;
    }

    /**
     * Registers the key if that has failed before, because the drive did not work, or if this
     * client was excluded. The session is valid.
     */
    synchronized void registerIfFailed() {
        if (failedIn != NONE) {
            register(failedIn);
        }
    }

    /**
     * Removes the registration, because the client ends. Waits for accesses in progress. If the
     * drive fails, the coordinator removes the registration.
     */
    synchronized void end() {
        isEnded = true;
        if (fence.isEmpty() || !isRegistered()) {
            return;
        }
        accesses.writeLock().lock();
        try {
            fence.get().unregister(key);
        } catch (FabricException | IllegalStateException e) {
            LOG.debug("{} remains registered at its drive: {}", client, e.getMessage());
        } finally {
            accesses.writeLock().unlock();
        }
    }

    /** Returns the lock that is held during an access, which then checks the session. */
    Lock access() {
        return accesses.readLock();
    }
}
