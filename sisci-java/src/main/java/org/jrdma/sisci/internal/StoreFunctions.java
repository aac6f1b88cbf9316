package org.jrdma.sisci.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.ffi.guard.StackSpace;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.sisci.model.SequenceStatus;
import org.jrdma.sisci.model.SisciException;

/**
 * Calls the functions of libsisci for stores and copies, which are on the hot path and allocate no
 * memory. Handles are passed as {@code long}: passing a segment of a shared arena would cost an
 * atomic instruction for each call. The callers enter a call guard, so that the objects cannot be
 * destroyed during a call.
 */
public final class StoreFunctions {

    private static final MethodHandle VOID_OF_SEQUENCE =
            Downcalls.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
    private static final MethodHandle STATUS_OF_SEQUENCE =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MEM_CPY =
            Downcalls.plain(
                    FunctionDescriptor.ofVoid(
                            JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT,
                            JAVA_LONG));

    private static final SequenceStatus[] STATUSES = SequenceStatus.values();

    /** The memory in which the library stores the error code of a call. Each thread has its own. */
    private static final ThreadLocal<MemorySegment> ERROR =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(JAVA_INT));

    private final SisciLibrary library;
    private final boolean implementedInJava;
    private final MemorySegment flush;
    private final MemorySegment storeBarrier;
    private final MemorySegment startSequence;
    private final MemorySegment checkSequence;
    private final MemorySegment memCpy;

    public StoreFunctions(SisciLibrary library) {
        this.library = library;
        this.implementedInJava = library.isProvided();
        this.flush = find("SCIFlush");
        this.storeBarrier = find("SCIStoreBarrier");
        this.startSequence = find("SCIStartSequence");
        this.checkSequence = find("SCICheckSequence");
        this.memCpy = find("SCIMemCpy");
    }

    private MemorySegment find(String function) {
        return library.find(function).orElse(MemorySegment.NULL);
    }

    /**
     * Drains the stores from the write buffers of this CPU. In C: {@code SCIFlush}.
     *
     * @param sequence the handle of a sequence; 0 for none
     */
    public void flush(long sequence, int flags) {
        invoke(flush, "SCIFlush", sequence, flags);
    }

    /** Drains the write buffers, and waits until the stores have left this node. */
    public void storeBarrier(long sequence, int flags) {
        invoke(storeBarrier, "SCIStoreBarrier", sequence, flags);
    }

    public SequenceStatus startSequence(long sequence, int flags, Object subject)
            throws SisciException {
        return status(startSequence, "SCIStartSequence", sequence, flags, subject);
    }

    public SequenceStatus checkSequence(long sequence, int flags, Object subject)
            throws SisciException {
        return status(checkSequence, "SCICheckSequence", sequence, flags, subject);
    }

    /**
     * Copies between memory and a map of a remote segment.
     *
     * @param sequence the handle of a sequence; 0 for none
     * @param memory the memory of the program, passed as a segment so that the memory cannot be
     *     freed during the call
     * @return the error code; 0 for success
     */
    public int copy(long sequence, MemorySegment memory, long map, long offset, int flags) {
        ensureStack(memCpy, "SCIMemCpy");
        var error = ERROR.get();
        error.set(JAVA_INT, 0, 0);
        try {
            MEM_CPY.invokeExact(
                    memCpy,
                    sequence,
                    memory,
                    map,
                    offset,
                    memory.byteSize(),
                    flags,
                    error.address());
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
        return error.get(JAVA_INT, 0);
    }

    private void invoke(MemorySegment function, String name, long sequence, int flags) {
        ensureStack(function, name);
        try {
            VOID_OF_SEQUENCE.invokeExact(function, sequence, flags);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private SequenceStatus status(
            MemorySegment function, String name, long sequence, int flags, Object subject)
            throws SisciException {
        ensureStack(function, name);
        var error = ERROR.get();
        error.set(JAVA_INT, 0, 0);
        int status;
        try {
            status =
                    (int)
                            STATUS_OF_SEQUENCE.invokeExact(
                                    function, sequence, flags, error.address());
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
        var code = error.get(JAVA_INT, 0);
        if (code != 0) {
            throw library.failure(name, subject, code, 0);
        }
        return statusOf(status);
    }

    /**
     * Returns the status with a given C number. The C numbers 0 to 3 are the ordinals of the enum,
     * as a test checks.
     */
    static SequenceStatus statusOf(int code) {
        if (code < 0 || code >= STATUSES.length) {
            throw new IllegalStateException("Unknown sequence status " + code);
        }
        return STATUSES[code];
    }

    /**
     * Checks that the function exists, and that enough stack is left if the library is implemented
     * in Java. Otherwise, a {@link StackOverflowError} in an upcall would terminate the JVM.
     *
     * @throws UnsupportedOperationException if the library has no such function
     */
    private void ensureStack(MemorySegment function, String name) {
        if (function.address() == 0) {
            var _ = library.require(name);
        }
        if (implementedInJava) {
            StackSpace.ensureForHotPath();
            StackSpace.recordWork();
        }
    }
}
