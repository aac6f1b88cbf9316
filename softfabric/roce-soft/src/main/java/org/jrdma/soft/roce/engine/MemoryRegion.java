package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Memory that packets may touch, until it is deregistered. Made by {@link MemoryRegistry}. */
public final class MemoryRegion {

    private static final VarHandle ACCESSES;

    static {
        try {
            ACCESSES =
                    MethodHandles.lookup().findVarHandle(MemoryRegion.class, "accesses", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int CLOSED = Integer.MIN_VALUE;

    private final ProtectionDomain domain;
    private final MemorySegment memory;
    private final long start;
    private final int access;
    private final int key;

    /** How many accesses are in flight, and {@link #CLOSED}. */
    @SuppressWarnings("unused") // through ACCESSES
    private int accesses;

    MemoryRegion(ProtectionDomain domain, MemorySegment memory, long start, int access, int key) {
        this.domain = domain;
        this.memory = memory;
        this.start = start;
        this.access = access;
        this.key = key;
    }

    /** Its lkey, which is its rkey too. */
    public int key() {
        return key;
    }

    public MemorySegment memory() {
        return memory;
    }

    /** The address by which work requests and peers name its first byte. */
    public long start() {
        return start;
    }

    /** Whether there is no memory: any address is good, what is read is 0. */
    public boolean isNull() {
        return memory.address() == 0;
    }

    /** Whether all of {@code length} bytes at {@code address} may be accessed so by that domain. */
    boolean permits(ProtectionDomain caller, long address, long length, int rights) {
        var offset = address - start;
        return caller == domain
                && (access & rights) == rights
                && length >= 0
                && (isNull()
                        || (length <= memory.byteSize()
                                && offset >= 0
                                && offset <= memory.byteSize() - length));
    }

    void read(long address, MemorySegment target, long targetOffset, long length) {
        if (isNull()) {
            target.asSlice(targetOffset, length).fill((byte) 0);
        } else {
            MemorySegment.copy(memory, offset(address), target, targetOffset, length);
        }
    }

    void write(long address, MemorySegment source, long sourceOffset, long length) {
        if (!isNull()) {
            MemorySegment.copy(source, sourceOffset, memory, offset(address), length);
        }
    }

    long offset(long address) {
        return address - start;
    }

    /** False if it is closed; else it stays open until {@link #exit()}. */
    boolean enter() {
        if ((int) ACCESSES.getAndAdd(this, 1) < 0) {
            exit();
            return false;
        }
        return true;
    }

    void exit() {
        ACCESSES.getAndAdd(this, -1);
    }

    /** Refuses further accesses, and returns when none is in flight. */
    void close() {
        ACCESSES.getAndBitwiseOr(this, CLOSED);
        // An access lasts no longer than it takes to copy one packet.
        while ((int) ACCESSES.getVolatile(this) != CLOSED) {
            Thread.onSpinWait();
        }
    }
}
