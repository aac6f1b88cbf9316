package org.jrdma.nvme;

import java.time.Duration;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.nvme.model.HostIdentifier;

/**
 * The options of a drive. Immutable: the methods return a changed copy.
 *
 * @param adminTimeout the time after which a method that executes admin commands fails, and the
 *     longest wait for a shutdown
 * @param ioTimeout the time without any completion after which a queue with pending commands fails
 * @param queues the number of I/O queues to request, from 1 to 65,535
 * @param hostIdentifier the identifier by which {@link NvmeReservations} distinguish this host; all
 *     controllers that one host opens have the same. {@link HostIdentifier#NONE} if the program
 *     uses no reservations
 * @param writeThrough true to send writes, and writes of zeroes, with the flag FUA, by which they
 *     complete only when their blocks are durable. Otherwise a flush makes them durable
 */
@CheckReturnValue
public record NvmeOptions(
        Duration adminTimeout,
        Duration ioTimeout,
        int queues,
        HostIdentifier hostIdentifier,
        boolean writeThrough) {

    /** Timeouts of 10 and 30 seconds, 64 queues, no host identifier, and no write-through. */
    public static final NvmeOptions DEFAULTS =
            new NvmeOptions(
                    Duration.ofSeconds(10), Duration.ofSeconds(30), 64, HostIdentifier.NONE, false);

    private static final int MAX_QUEUES = 65_535;

    /**
     * Creates options.
     *
     * @throws IllegalArgumentException if the number of queues is invalid
     */
    public NvmeOptions {
        if (queues < 1 || queues > MAX_QUEUES) {
            throw new IllegalArgumentException(
                    "The number of queues is %d. It must be from 1 to %d."
                            .formatted(queues, MAX_QUEUES));
        }
    }

    /** Returns a copy with another {@link #adminTimeout()}. */
    public NvmeOptions adminTimeout(Duration timeout) {
        return new NvmeOptions(timeout, ioTimeout, queues, hostIdentifier, writeThrough);
    }

    /** Returns a copy with another {@link #ioTimeout()}. */
    public NvmeOptions ioTimeout(Duration timeout) {
        return new NvmeOptions(adminTimeout, timeout, queues, hostIdentifier, writeThrough);
    }

    /** Returns a copy with another {@link #queues()}. */
    public NvmeOptions queues(int count) {
        return new NvmeOptions(adminTimeout, ioTimeout, count, hostIdentifier, writeThrough);
    }

    /** Returns a copy with another {@link #hostIdentifier()}. */
    public NvmeOptions hostIdentifier(HostIdentifier host) {
        return new NvmeOptions(adminTimeout, ioTimeout, queues, host, writeThrough);
    }

    /** Returns a copy with another {@link #writeThrough()}. */
    public NvmeOptions writeThrough(boolean isDurable) {
        return new NvmeOptions(adminTimeout, ioTimeout, queues, hostIdentifier, isDurable);
    }
}
