package org.jrdma.soft.roce.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Memory that packets may touch, until it is deregistered; or what a window shows of it, until that
 * is unbound. Made by {@link MemoryRegistry}.
 */
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

    /** The window that this is a view through; null for a region. */
    public final @Nullable MemoryWindow window;

    /** Through which queue pair alone it is accessed; null for all of the domain. */
    private final @Nullable MemoryAccessor through;

    /** How many windows are bound to it. Guarded by the registry's lock, as is the next. */
    public int windows;

    public boolean deregistered;

    /** How many accesses are in flight, and {@link #CLOSED}. */
    @SuppressWarnings("unused") // through ACCESSES
    private int accesses;

    public MemoryRegion(
            ProtectionDomain domain, MemorySegment memory, long start, int access, int key) {
        this(domain, memory, start, access | Access.LOCAL_READ, key, null, null);
    }

    private MemoryRegion(
            ProtectionDomain domain,
            MemorySegment memory,
            long start,
            int access,
            int key,
            @Nullable MemoryWindow window,
            @Nullable MemoryAccessor through) {
        this.domain = domain;
        this.memory = memory;
        this.start = start;
        this.access = access;
        this.key = key;
        this.window = window;
        this.through = through;
    }

    /** What a window shows, under its key, to peers of {@code binder} or of the whole domain. */
    public MemoryRegion view(
            MemoryWindow shown, MemoryAccessor binder, long address, long length, int rights) {
        return new MemoryRegion(
                domain,
                memory.asSlice(offset(address), length),
                (rights & Access.ZERO_BASED) == 0 ? address : 0,
                rights & Access.REMOTE,
                shown.key,
                shown,
                shown.type == MemoryWindow.Type.TWO ? binder : null);
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

    /** Whether {@code length} bytes at {@code address} may be accessed so through a queue pair. */
    public boolean permits(MemoryAccessor caller, long address, long length, int rights) {
        return isVisibleTo(caller)
                && (access & rights) == rights
                && length >= 0
                && (isNull() || contains(address, length));
    }

    private boolean contains(long address, long length) {
        var offset = address - start;
        return length <= memory.byteSize() && offset >= 0 && offset <= memory.byteSize() - length;
    }

    /** Whether a window of its domain may show so many bytes with these rights. */
    public boolean permitsWindow(ProtectionDomain caller, long address, long length, int rights) {
        return caller == domain
                && !deregistered
                && (access & (Access.WINDOW_BIND | Access.ZERO_BASED)) == Access.WINDOW_BIND
                && ((rights & Access.REMOTE_CHANGES) == 0 || (access & Access.LOCAL_WRITE) != 0)
                && length > 0
                && contains(address, length);
    }

    /** Whether peers may access it through a queue pair by its key, as far as that goes. */
    public boolean isVisibleTo(MemoryAccessor caller) {
        return caller.domain() == domain && (through == null || through == caller);
    }

    public void read(long address, MemorySegment target, long targetOffset, long length) {
        if (isNull()) {
            target.asSlice(targetOffset, length).fill((byte) 0);
        } else {
            MemorySegment.copy(memory, offset(address), target, targetOffset, length);
        }
    }

    public void write(long address, MemorySegment source, long sourceOffset, long length) {
        if (!isNull()) {
            MemorySegment.copy(source, sourceOffset, memory, offset(address), length);
        }
    }

    public long offset(long address) {
        return address - start;
    }

    /** False if it is closed; else it stays open until {@link #exit()}. */
    public boolean enter() {
        if ((int) ACCESSES.getAndAdd(this, 1) < 0) {
            exit();
            return false;
        }
        return true;
    }

    public void exit() {
        ACCESSES.getAndAdd(this, -1);
    }

    /** Refuses further accesses, and returns when none is in flight. */
    public void close() {
        ACCESSES.getAndBitwiseOr(this, CLOSED);
        // An access lasts no longer than it takes to copy one packet.
        while ((int) ACCESSES.getVolatile(this) != CLOSED) {
            Thread.onSpinWait();
        }
    }
}
