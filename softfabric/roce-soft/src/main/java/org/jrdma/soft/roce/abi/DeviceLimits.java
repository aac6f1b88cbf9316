package org.jrdma.soft.roce.abi;

import java.nio.ByteOrder;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.LinuxCalls;

/**
 * The limits of a device, and the properties that all devices share: one port, one GID, one clock.
 */
public final class DeviceLimits {

    /** The number of the only port. */
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
     * Initializes {@link #PAGE_BYTES}, because a function that C calls must not make the system
     * call.
     */
    public static void prepare() {
        if (PAGE_BYTES <= 0) {
            throw new IllegalStateException(
                    "The system reports an invalid page size: %d bytes.".formatted(PAGE_BYTES));
        }
    }

    /**
     * Checks a port number.
     *
     * @throws ErrnoException if the number is not {@link #PORT}
     */
    public static void requirePort(int port) {
        ErrnoException.throwIf(port != PORT, Errno.EINVAL);
    }

    /** The clock of all devices, in nanoseconds. */
    public static long clock() {
        return System.nanoTime();
    }

    public static long bigEndian(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? value : Long.reverseBytes(value);
    }
}
