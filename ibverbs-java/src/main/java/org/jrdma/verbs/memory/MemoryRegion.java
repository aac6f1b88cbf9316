package org.jrdma.verbs.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Set;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.Registration;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.memory.access.MemoryAccess;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * Memory that an adapter may access: for work requests of this side and, as far as its access
 * rights go, for peers.
 *
 * <p>Owned by the arena or the protection domain that made it. The memory lives as long as that
 * arena or buffer, also when the region is closed earlier. Only {@link #address()} and work
 * requests refuse a closed region; its keys and its length are plain numbers and stay readable.
 * Safe for use by multiple threads. Closing a region ends the adapter's access; operations in
 * flight then fail. In C: {@code struct ibv_mr}; {@link #close()} is {@code ibv_dereg_mr}.
 */
public final class MemoryRegion extends NativeObject {

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    static {
        MemoryAccess.open(new MemoryOpening());
    }

    private final Registration registration;

    MemoryRegion(Registration registration) {
        super(registration.address(), registration.lifetime());
        this.registration = registration;
    }

    /**
     * Changes the access rights. Like every re-registration, this is faster than a new registration
     * where the device supports it, invalidates the keys that peers have, and requires that no work
     * request that names this region is in flight. In C: {@code ibv_rereg_mr}.
     *
     * @return the region as it is now, with its own keys; this one is closed
     * @throws VerbsException if the device refuses. This region stays as it was, or is closed if
     *     the device has left it unusable
     */
    public MemoryRegion reregister(Access... access) throws VerbsException {
        return new MemoryRegion(registration.changeAccess(Access.setOf(access)));
    }

    /**
     * Moves the region to other memory, which the caller keeps alive as for {@link
     * org.jrdma.verbs.ProtectionDomain#registerUnguarded}; like {@link #reregister}. In C: {@code
     * ibv_rereg_mr}.
     *
     * @throws IllegalArgumentException if the segment is on the heap or empty
     */
    public MemoryRegion reregisterUnguarded(MemorySegment next) throws VerbsException {
        if (!next.isNative() || next.byteSize() == 0) {
            throw new IllegalArgumentException("Only native memory can be registered: " + next);
        }
        return new MemoryRegion(registration.changeMemory(next));
    }

    Registration registration() {
        return registration;
    }

    /**
     * The kernel's number for the region, by which another process {@linkplain
     * org.jrdma.verbs.ProtectionDomain#importRegion imports} it.
     */
    public int handle() {
        lifetime().hold();
        try {
            return MemoryFunctions.regionHandle(address());
        } finally {
            lifetime().release();
        }
    }

    /** The memory; empty where there is none, or none of this process. */
    public MemorySegment segment() {
        return registration.memory();
    }

    /** The length in bytes. */
    public long length() {
        return registration.length();
    }

    /**
     * The address by which work requests and peers name the first byte: that of the memory, unless
     * the region is {@linkplain Access#ZERO_BASED zero-based} or {@linkplain
     * RegisteredArena#regionAt was given another}.
     */
    public long startAddress() {
        return registration.start();
    }

    /** The access rights. */
    public Set<Access> access() {
        return registration.access();
    }

    /** The key by which requests of this side name the region. In C: {@code lkey}. */
    public int localKey() {
        return registration.localKey();
    }

    /** The key by which peers name the region. In C: {@code rkey}. */
    public int remoteKey() {
        return registration.remoteKey();
    }

    /** The whole region, for a work request. */
    public MemorySlice slice() {
        return slice(0, length());
    }

    /**
     * A part of the region, for a work request.
     *
     * @throws IndexOutOfBoundsException if the part is not within the region
     */
    public MemorySlice slice(long offset, long length) {
        return new MemorySlice(this, offset, length);
    }

    /**
     * The address and key that a peer needs to access the region.
     *
     * @throws IllegalStateException if it is a {@linkplain
     *     org.jrdma.verbs.ProtectionDomain#newNullRegion null region}
     */
    public RemoteMemory remote() {
        if (registration.isOfNothing()) {
            throw new IllegalStateException("A null region is for this side's requests only");
        }
        return new RemoteMemory(startAddress(), remoteKey(), length());
    }

    /**
     * Reads a number that a peer writes, so that later reads of the region return data that is at
     * least as new.
     *
     * <p>This orders what this processor reads. It does not order what the adapter wrote: a single
     * write of a peer may be placed in any order, and with {@link Access#RELAXED_ORDERING} several
     * writes may be too. Most adapters place the bytes of one write in ascending order, but none
     * guarantees it. A peer that needs a guarantee writes with immediate data, whose completion
     * this side waits for.
     *
     * @param offset a multiple of 8
     */
    public long readLongAcquire(long offset) {
        return (long) LONG.getAcquire(registration.memory(), offset);
    }

    /** Like {@link #readLongAcquire}, for a number of 4 bytes at a multiple of 4. */
    public int readIntAcquire(long offset) {
        return (int) INT.getAcquire(registration.memory(), offset);
    }
}
