package org.jrdma.soft.roce.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A registered memory region, or the view of a region through a bound memory window. Created by
 * {@link MemoryRegistry}.
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

    /** The window of a view; null for a region. */
    public final @Nullable MemoryWindow window;

    /** The only queue pair through which peers may use this view; null for all of the domain. */
    private final @Nullable AccessIdentity boundTo;

    /**
     * The number of windows bound to the region. Guarded by the registry's lock, like {@link
     * #deregistered}.
     */
    public int windows;

    public boolean deregistered;

    /** The number of accesses in flight, with {@link #CLOSED} set after {@link #close}. */
    @SuppressWarnings("unused") // accessed through ACCESSES
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
            @Nullable AccessIdentity boundTo) {
        this.domain = domain;
        this.memory = memory;
        this.start = start;
        this.access = access;
        this.key = key;
        this.window = window;
        this.boundTo = boundTo;
    }

    /** Creates the view of a window, with the window's key. */
    public MemoryRegion view(
            MemoryWindow boundWindow,
            AccessIdentity binder,
            long address,
            long length,
            int rights) {
        return new MemoryRegion(
                domain,
                memory.asSlice(offset(address), length),
                (rights & Access.ZERO_BASED) == 0 ? address : 0,
                rights & Access.REMOTE,
                boundWindow.key,
                boundWindow,
                boundWindow.type == MemoryWindow.Type.TWO ? binder : null);
    }

    /** The lkey, which is also the rkey. */
    public int key() {
        return key;
    }

    public MemorySegment memory() {
        return memory;
    }

    /** The address of the first byte, as work requests and peers name it. */
    public long start() {
        return start;
    }

    /** Whether this is a null memory region: any address is valid, and reads return 0. */
    public boolean isNull() {
        return memory.address() == 0;
    }

    /**
     * Returns true if {@code length} bytes at {@code address} may be accessed with {@code rights}.
     */
    public boolean permits(AccessIdentity caller, long address, long length, int rights) {
        return isVisibleTo(caller)
                && (access & rights) == rights
                && length >= 0
                && (isNull() || contains(address, length));
    }

    private boolean contains(long address, long length) {
        var offset = address - start;
        return length <= memory.byteSize() && offset >= 0 && offset <= memory.byteSize() - length;
    }

    /** Returns true if a window of a domain may be bound to this memory with these rights. */
    public boolean permitsWindow(ProtectionDomain caller, long address, long length, int rights) {
        return caller == domain
                && !deregistered
                && (access & (Access.WINDOW_BIND | Access.ZERO_BASED)) == Access.WINDOW_BIND
                && ((rights & Access.REMOTE_CHANGES) == 0 || (access & Access.LOCAL_WRITE) != 0)
                && length > 0
                && contains(address, length);
    }

    /** Whether the caller has the domain, and is the queue pair, that this memory belongs to. */
    public boolean isVisibleTo(AccessIdentity caller) {
        return caller.domain() == domain && (boundTo == null || boundTo == caller);
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

    /** Begins an access, which ends with {@link #exit()}. Returns false if the region is closed. */
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

    /** Rejects further accesses, and waits until none is in flight. */
    public void close() {
        ACCESSES.getAndBitwiseOr(this, CLOSED);
        // Spins because an access only copies a single packet.
        while ((int) ACCESSES.getVolatile(this) != CLOSED) {
            Thread.onSpinWait();
        }
    }
}
