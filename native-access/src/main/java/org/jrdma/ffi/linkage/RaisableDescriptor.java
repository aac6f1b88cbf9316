package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.LibcDowncalls.symbol;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/**
 * A file descriptor that is readable after {@link #raise()} until {@link #lower()}, for use with
 * poll(2) or epoll(7). These methods neither block nor allocate memory. Safe for use by multiple
 * threads. In C: {@code eventfd}.
 *
 * <p>After {@link #close()}, all other methods throw {@link IllegalStateException}, because the
 * kernel may reuse the number for another file.
 */
public final class RaisableDescriptor implements AutoCloseable {

    private static final int CLOSE_ON_EXEC_NOT_BLOCKING = 0x80000 | 0x800;

    private static final MethodHandle EVENTFD =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle WRITE =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle READ =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle CLOSE =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private static final MemorySegment EVENTFD_ADDRESS = symbol("eventfd");
    private static final MemorySegment WRITE_ADDRESS = symbol("eventfd_write");
    private static final MemorySegment READ_ADDRESS = symbol("eventfd_read");
    private static final MemorySegment CLOSE_ADDRESS = symbol("close");

    private int number;
    private final MemorySegment count = Arena.ofAuto().allocate(JAVA_LONG);
    private boolean closed;

    private RaisableDescriptor() {}

    /** Creates a descriptor that is not readable. */
    public static RaisableDescriptor open() throws FabricException {
        // First, because a later failure would leave the descriptor open.
        var created = new RaisableDescriptor();
        int number =
                LibcDowncalls.call(() ->
                        (int)
                                EVENTFD.invokeExact(
                                        EVENTFD_ADDRESS, segment(), 0, CLOSE_ON_EXEC_NOT_BLOCKING));
        if (number < 0) {
            var errno = CapturedErrno.value();
            throw new FabricException("eventfd failed: " + Errno.describe(errno), errno, null);
        }
        synchronized (created) {
            created.number = number;
        }
        return created;
    }

    /** Returns the number of the file descriptor, for use with poll or epoll. */
    public synchronized int number() {
        checkOpen();
        return number;
    }

    /** Makes the descriptor readable. */
    public synchronized void raise() {
        checkOpen();
        try {
            var _ = (int) WRITE.invokeExact(WRITE_ADDRESS, number, 1L);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /** Makes the descriptor unreadable until it is raised again. */
    public synchronized void lower() {
        checkOpen();
        try {
            var _ = (int) READ.invokeExact(READ_ADDRESS, number, count);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("Descriptor %d is closed".formatted(number));
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            var _ = (int) CLOSE.invokeExact(CLOSE_ADDRESS, number);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }
}
