package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.LibcDowncalls.call;
import static org.jrdma.ffi.linkage.LibcDowncalls.symbol;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/** A file descriptor of an open file. Safe for use by multiple threads. In C: {@code open}. */
public final class OpenFile implements AutoCloseable {

    private static final MethodHandle OPEN =
            Downcalls.variadicCapturingErrno(
                    FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT), 2);
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

    /** Takes ownership of an open file descriptor. */
    public static OpenFile of(int number) {
        return new OpenFile(number);
    }

    /**
     * Opens an existing file for reading. The call does not block even if the file is a FIFO
     * without a writer.
     *
     * @throws FabricException if the file cannot be opened
     */
    public static OpenFile forReading(Path path) throws FabricException {
        return open(path, LinuxCalls.O_RDONLY | LinuxCalls.O_NONBLOCK);
    }

    /**
     * Opens an existing file for reading and writing.
     *
     * @throws FabricException if the file cannot be opened
     */
    public static OpenFile forWriting(Path path) throws FabricException {
        return open(path, LinuxCalls.O_RDWR);
    }

    private static OpenFile open(Path path, int mode) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocateFrom(path.toString());
            var flags = mode | LinuxCalls.O_CLOEXEC;
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
     * Returns the number of the file descriptor.
     *
     * @throws IllegalStateException if the descriptor is closed
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
}
