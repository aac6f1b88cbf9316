package org.jrdma.sisci.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.StackRoom;
import org.jrdma.sisci.model.SequenceStatus;
import org.jrdma.sisci.model.SisciException;

/**
 * What is called between stores: nothing is allocated, and pointers are passed as numbers, since a
 * segment of a shared arena would be kept alive by an atomic instruction in each call. The caller's
 * guard keeps what they point to.
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

    /** Where the current thread's calls leave their error code. */
    private static final ThreadLocal<MemorySegment> ERROR =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(JAVA_INT));

    private final SisciLibrary library;
    private final boolean intoJava;
    private final MemorySegment flush;
    private final MemorySegment storeBarrier;
    private final MemorySegment startSequence;
    private final MemorySegment checkSequence;
    private final MemorySegment memCpy;

    /** The functions of a library. */
    public StoreFunctions(SisciLibrary library) {
        this.library = library;
        this.intoJava = library.isProvided();
        this.flush = find("SCIFlush");
        this.storeBarrier = find("SCIStoreBarrier");
        this.startSequence = find("SCIStartSequence");
        this.checkSequence = find("SCICheckSequence");
        this.memCpy = find("SCIMemCpy");
    }

    private MemorySegment find(String function) {
        return library.find(function).orElse(MemorySegment.NULL);
    }

    /** Drains what this CPU still holds of stores; 0 for no sequence in particular. */
    public void flush(long sequence, int flags) {
        invoke(flush, "SCIFlush", sequence, flags);
    }

    /** Waits besides until the stores of a sequence have left. */
    public void storeBarrier(long sequence, int flags) {
        invoke(storeBarrier, "SCIStoreBarrier", sequence, flags);
    }

    /** Starts a sequence, or starts it again. */
    public SequenceStatus startSequence(long sequence, int flags, Object subject)
            throws SisciException {
        return status(startSequence, "SCIStartSequence", sequence, flags, subject);
    }

    /** The status of the stores since the last check. */
    public SequenceStatus checkSequence(long sequence, int flags, Object subject)
            throws SisciException {
        return status(checkSequence, "SCICheckSequence", sequence, flags, subject);
    }

    /**
     * Copies between memory and a map of a remote segment.
     *
     * @param sequence 0 for none
     * @param memory a segment, since it is the user's, and kept alive by nothing else
     * @return the error code; 0 for success
     */
    public int copy(long sequence, MemorySegment memory, long map, long offset, int flags) {
        makeRoom(memCpy, "SCIMemCpy");
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
        makeRoom(function, name);
        try {
            VOID_OF_SEQUENCE.invokeExact(function, sequence, flags);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private SequenceStatus status(
            MemorySegment function, String name, long sequence, int flags, Object subject)
            throws SisciException {
        makeRoom(function, name);
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

    /** The constants are in the order of C's numbers, 0 to 3; a test ensures it. */
    static SequenceStatus statusOf(int code) {
        if (code < 0 || code >= STATUSES.length) {
            throw new IllegalStateException("No status of a sequence has the number " + code);
        }
        return STATUSES[code];
    }

    /**
     * A library that is Java needs room on the stack: it may throw a {@link StackOverflowError}.
     */
    private void makeRoom(MemorySegment function, String name) {
        if (function.address() == 0) {
            var _ = library.require(name);
        }
        if (intoJava) {
            StackRoom.ensureForHotPath();
            StackRoom.didSomething();
        }
    }
}
