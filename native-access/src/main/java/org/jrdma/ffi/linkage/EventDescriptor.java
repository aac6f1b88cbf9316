package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/**
 * A descriptor that is readable while it is raised, so that others can wait for it with poll(2) or
 * epoll(7). Never blocks and allocates nothing. Safe for use by several threads. In C: {@code
 * eventfd}.
 *
 * <p>Once it is closed its number may be another's: whatever else is asked of it then is refused
 * with an {@link IllegalStateException}.
 */
public final class EventDescriptor implements AutoCloseable {

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

    private final int number;
    private final MemorySegment count = Arena.ofAuto().allocate(JAVA_LONG);
    private boolean closed;

    private EventDescriptor(int number) {
        this.number = number;
    }

    /** Makes one that is not raised. */
    public static EventDescriptor open() throws FabricException {
        int number;
        try {
            number =
                    (int)
                            EVENTFD.invokeExact(
                                    EVENTFD_ADDRESS, segment(), 0, CLOSE_ON_EXEC_NOT_BLOCKING);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
        if (number < 0) {
            var errno = CapturedErrno.value();
            throw new FabricException("eventfd failed: " + Errno.describe(errno), errno, null);
        }
        return new EventDescriptor(number);
    }

    /** The descriptor's number, for those who wait. */
    public synchronized int number() {
        checkOpen();
        return number;
    }

    /** Makes it readable. */
    public synchronized void raise() {
        checkOpen();
        try {
            var _ = (int) WRITE.invokeExact(WRITE_ADDRESS, number, 1L);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /** Makes it unreadable until it is raised again. */
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
            throw new IllegalStateException("Event descriptor %d is closed".formatted(number));
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

    private static MemorySegment symbol(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }
}
