package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.HostCalls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/**
 * A file that is open, as C wants it: by the number of a descriptor. Safe for use by several
 * threads. In C: {@code open}.
 */
public final class OpenFile implements AutoCloseable {

    private static final MethodHandle OPEN =
            Linker.nativeLinker()
                    .downcallHandle(
                            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
                            Linker.Option.firstVariadicArg(2),
                            Linker.Option.captureCallState("errno"));
    private static final MethodHandle CLOSE =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MemorySegment OPEN_ADDRESS = symbol("open");
    private static final MemorySegment CLOSE_ADDRESS = symbol("close");
    private static final int NO_MODE = 0;

    private final int number;
    private final AtomicBoolean closed = new AtomicBoolean();

    private OpenFile(int number) {
        this.number = number;
    }

    /** A file that is open already, by a descriptor that is this one's from now on. */
    public static OpenFile of(int number) {
        return new OpenFile(number);
    }

    /**
     * Opens a file that there is. Does not wait, not even for the writer of a FIFO.
     *
     * @throws FabricException with what the system answers
     */
    public static OpenFile forReading(Path path) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocateFrom(path.toString());
            var flags = Linux.O_RDONLY | Linux.O_CLOEXEC | Linux.O_NONBLOCK;
            int number =
                    call(() ->
                            (int) OPEN.invokeExact(OPEN_ADDRESS, segment(), name, flags, NO_MODE));
            if (number < 0) {
                var errno = CapturedErrno.value();
                throw new FabricException(
                        "%s cannot be opened: %s".formatted(path, Errno.describe(errno)),
                        errno,
                        null);
            }
            return new OpenFile(number);
        }
    }

    /**
     * The descriptor's number.
     *
     * @throws IllegalStateException if it is closed
     */
    public int number() {
        if (closed.get()) {
            throw new IllegalStateException("Descriptor %d is closed".formatted(number));
        }
        return number;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            var _ = call(() -> (int) CLOSE.invokeExact(CLOSE_ADDRESS, number));
        }
    }

    private static MemorySegment symbol(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }
}
