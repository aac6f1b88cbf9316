package org.jrdma.soft.roce.abi;

import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.LinuxCalls;

/**
 * Constants that are the same for all software devices: the limits that a device reports and
 * enforces, its only port, the indexes of its GID and partition key, and its clock.
 */
public final class DeviceLimits {

    /** The number of the single port that each device has. */
    public static final int PORT = 1;

    public static final int MAX_REQUESTS = 16_384;
    public static final int MAX_ELEMENTS = 32;
    public static final int MAX_INLINE_BYTES = 1_024;
    public static final int MAX_READS = 128;
    public static final int MAX_COMPLETIONS = 1 << 20;
    public static final int MAX_QUEUE_PAIRS = (1 << 16) - 2;
    public static final int GIDS = 1;
    public static final int PARTITION_KEYS = 1;
    public static final int DEFAULT_PARTITION_KEY = 0xffff;
    public static final long PAGE_BYTES = LinuxCalls.pageBytes();

    private DeviceLimits() {}

    /**
     * Initializes this class, which queries the page size of the system ({@link #PAGE_BYTES}) by a
     * system call. Must be called before C code calls an {@link Exported} method, because such a
     * method must not make system calls.
     *
     * @throws IllegalStateException if the reported page size is not positive
     */
    public static void prepare() {
        if (PAGE_BYTES <= 0) {
            throw new IllegalStateException(
                    "The system reports an invalid page size: %d bytes.".formatted(PAGE_BYTES));
        }
    }

    /**
     * Checks that a port number is {@link #PORT}.
     *
     * @throws ErrnoException with {@code EINVAL} if it is another number
     */
    public static void requirePort(int port) {
        ErrnoException.throwIf(port != PORT, Errno.EINVAL);
    }

    /**
     * The current time of the clock that all devices share, in nanoseconds. Completion timestamps
     * are values of this clock. Its origin is arbitrary.
     */
    public static long clock() {
        return System.nanoTime();
    }
}
