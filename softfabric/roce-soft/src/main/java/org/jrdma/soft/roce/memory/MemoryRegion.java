package org.jrdma.soft.roce.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jrdma.ffi.linkage.PollingBudget;
import org.jspecify.annotations.Nullable;

/**
 * A registered memory region, or a view of a region. A view represents a bound memory window: the
 * part of the region to which the window grants access, with the key and the rights of the window.
 * {@link MemoryRegistry} creates and closes both kinds.
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

    /** The sign bit of {@link #accesses}, which marks a closed region. */
    private static final int CLOSED = Integer.MIN_VALUE;

    private final ProtectionDomain domain;
    private final MemorySegment memory;
    private final long start;
    private final int access;
    private final int key;

    /** The memory window that this view belongs to; null if this object is a region. */
    public final @Nullable MemoryWindow window;

    /**
     * The queue pair that has bound the type 2 window of this view, which is the only queue pair
     * that may access the view. Null for a region or a view of a type 1 window: all queue pairs of
     * the domain may access it.
     */
    private final @Nullable AccessIdentity boundTo;

    /**
     * The number of memory windows bound to the region. Guarded by the lock of the {@link
     * MemoryRegistry}.
     */
    public int windows;

    /**
     * True after {@link MemoryRegistry#deregister} was called. No window can be bound to the region
     * then. Guarded by the lock of the {@link MemoryRegistry}.
     */
    public boolean deregistered;

    /**
     * The number of accesses that have started and not ended, with the bit {@link #CLOSED} set
     * after {@link #close} was called.
     */
    @SuppressWarnings("unused") // Used only through the var handle ACCESSES.
    private int accesses;

    /**
     * Creates a region.
     *
     * @param start the address of the first byte in work requests and in requests of peers, which
     *     may differ from its address in this process
     * @param access a combination of {@link Access} bits
     * @param key the lkey and rkey
     */
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

    /**
     * Creates a view of this region for a memory window that is being bound. The view has the key
     * of the window.
     *
     * @param binder the queue pair that binds the window
     * @param address the address of the first byte of the view in this region
     * @param length the length of the view in bytes
     * @param rights the rights of peers, and {@link Access#ZERO_BASED} if addresses in the view
     *     begin at 0
     */
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

    /**
     * The address of the first byte in work requests and in requests of peers. It may differ from
     * the address of the byte in this process.
     */
    public long start() {
        return start;
    }

    /**
     * Returns true if this is a null memory region. It has no memory: every address is valid, reads
     * return 0, and writes are discarded.
     */
    public boolean isNull() {
        return memory.address() == 0;
    }

    /**
     * Returns true if the caller may access {@code length} bytes at {@code address} with all of the
     * given rights.
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

    /**
     * Returns true if a memory window may be bound to a part of this region with the given rights.
     *
     * @param caller the protection domain of the window
     */
    public boolean permitsWindow(ProtectionDomain caller, long address, long length, int rights) {
        return caller == domain
                && !deregistered
                && (access & (Access.WINDOW_BIND | Access.ZERO_BASED)) == Access.WINDOW_BIND
                && ((rights & Access.REMOTE_CHANGES) == 0 || (access & Access.LOCAL_WRITE) != 0)
                && length > 0
                && contains(address, length);
    }

    /**
     * Returns true if this memory belongs to the protection domain of the caller. A view of a type
     * 2 window is in addition visible only to the queue pair that has bound the window.
     */
    public boolean isVisibleTo(AccessIdentity caller) {
        return caller.domain() == domain && (boundTo == null || boundTo == caller);
    }

    /**
     * Copies bytes from this memory. The caller must have checked the bounds, and must have called
     * {@link #enter}.
     */
    public void read(long address, MemorySegment target, long targetOffset, long length) {
        if (isNull()) {
            target.asSlice(targetOffset, length).fill((byte) 0);
        } else {
            MemorySegment.copy(memory, offset(address), target, targetOffset, length);
        }
    }

    /**
     * Copies bytes to this memory. The caller must have checked the bounds, and must have called
     * {@link #enter}.
     */
    public void write(long address, MemorySegment source, long sourceOffset, long length) {
        if (!isNull()) {
            MemorySegment.copy(source, sourceOffset, memory, offset(address), length);
        }
    }

    /**
     * Converts an address in a work request or a request of a peer to an offset in {@link #memory}.
     */
    public long offset(long address) {
        return address - start;
    }

    /**
     * Starts an access. If this method returns true, the caller ends the access with {@link #exit},
     * and {@link #close} waits for it.
     *
     * @return false if the region is closed
     */
    public boolean enter() {
        if ((int) ACCESSES.getAndAdd(this, 1) < 0) {
            exit();
            return false;
        }
        return true;
    }

    /** Ends an access that {@link #enter} has started. */
    public void exit() {
        ACCESSES.getAndAdd(this, -1);
    }

    /**
     * Closes the region: rejects further accesses, and waits until all started accesses have ended.
     */
    public void close() {
        ACCESSES.getAndBitwiseOr(this, CLOSED);
        // The thread does not park, because an access copies at most one packet, which is fast. It
        // yields, because the accessing thread may need the processor of this thread.
        for (var polls = 0; (int) ACCESSES.getVolatile(this) != CLOSED; polls++) {
            PollingBudget.pause(polls);
        }
    }
}
