package org.jrdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.plain;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** What a channel of the fake library tells its events by. In C: {@code eventfd}. */
final class EventDescriptor {

    private static final int O_NONBLOCK = 0x800;
    private static final MemorySegment EVENTFD = symbol("eventfd");
    private static final MemorySegment READ = symbol("read");
    private static final MemorySegment WRITE = symbol("write");
    private static final MethodHandle MAKE =
            plain(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle TRANSFER =
            plain(FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));

    final int number = call(() -> (int) MAKE.invokeExact(EVENTFD, 0, O_NONBLOCK));

    void signal() {
        transfer(WRITE, Arena.ofAuto().allocateFrom(JAVA_LONG, 1));
    }

    /** False if there is none. */
    boolean take() {
        return transfer(READ, Arena.ofAuto().allocate(JAVA_LONG)) == Long.BYTES;
    }

    private long transfer(MemorySegment function, MemorySegment buffer) {
        return call(() -> (long) TRANSFER.invokeExact(function, number, buffer, buffer.byteSize()));
    }

    private static MemorySegment symbol(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }
}
