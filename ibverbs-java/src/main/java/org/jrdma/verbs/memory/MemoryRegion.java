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
 * Memory that an adapter may access, for local work requests and, within its access rights, for
 * peers.
 *
 * <p>Owned by the arena or the protection domain that created it. The memory itself lives as long
 * as its arena or buffer, even if the region is closed earlier. Closing a region ends the adapter's
 * access, and operations in flight then fail. Of a closed region, {@link #address()} and work
 * requests throw, while the keys and the length remain readable. Safe for use by multiple threads.
 * In C: {@code struct ibv_mr}; {@link #close()} is {@code ibv_dereg_mr}.
 */
public final class MemoryRegion extends NativeObject {

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    static {
        MemoryAccess.open(new MemoryAccessImpl());
    }

    private final Registration registration;

    MemoryRegion(Registration registration) {
        super(registration.address(), registration.lifetime());
        this.registration = registration;
    }

    /**
     * Changes the access rights. Every re-registration is faster than a new registration if the
     * device supports it. It invalidates the keys that peers have, and it requires that no work
     * request that names this region is in flight. In C: {@code ibv_rereg_mr}.
     *
     * @return the new region, with its own keys; this region is closed
     * @throws VerbsException if the device rejects the change. This region is then unchanged, or
     *     closed if the device has made it unusable
     */
    public MemoryRegion reregister(Access... access) throws VerbsException {
        return new MemoryRegion(registration.changeAccess(Access.setOf(access)));
    }

    /**
     * Replaces the memory of the region; otherwise like {@link #reregister}. The caller keeps the
     * memory alive as for {@link org.jrdma.verbs.ProtectionDomain#registerUnguarded}. In C: {@code
     * ibv_rereg_mr}.
     *
     * @throws IllegalArgumentException if the segment is on the heap or empty
     */
    public MemoryRegion reregisterUnguarded(MemorySegment next) throws VerbsException {
        if (!next.isNative() || next.byteSize() == 0) {
            throw new IllegalArgumentException(
                    "Only native memory of at least one byte can be registered: " + next);
        }
        return new MemoryRegion(registration.changeMemory(next));
    }

    Registration registration() {
        return registration;
    }

    /**
     * The kernel's number of the region, by which another process {@linkplain
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

    /** The memory; empty if the region has no memory in this process. */
    public MemorySegment segment() {
        return registration.memory();
    }

    /** The length in bytes. */
    public long length() {
        return registration.length();
    }

    /**
     * The address by which work requests and peers name the first byte. It is the address of the
     * memory, unless the region is {@linkplain Access#ZERO_BASED zero-based} or was created with
     * {@linkplain RegisteredArena#regionAt another address}.
     */
    public long startAddress() {
        return registration.start();
    }

    /** The access rights. */
    public Set<Access> access() {
        return registration.access();
    }

    /** The key by which local work requests name the region. In C: {@code lkey}. */
    public int localKey() {
        return registration.localKey();
    }

    /** The key by which peers name the region. In C: {@code rkey}. */
    public int remoteKey() {
        return registration.remoteKey();
    }

    /** Returns a slice of the whole region, for a work request. */
    public MemorySlice slice() {
        return slice(0, length());
    }

    /**
     * Returns a slice of a part of the region, for a work request.
     *
     * @throws IndexOutOfBoundsException if the part is not within the region
     */
    public MemorySlice slice(long offset, long length) {
        return new MemorySlice(this, offset, length);
    }

    /**
     * The address and key that a peer needs to access the region.
     *
     * @throws IllegalStateException if this is a {@linkplain
     *     org.jrdma.verbs.ProtectionDomain#newNullRegion null region}
     */
    public RemoteMemory remote() {
        if (registration.isNull()) {
            throw new IllegalStateException("A null region cannot be accessed by peers");
        }
        return new RemoteMemory(startAddress(), remoteKey(), length());
    }

    /**
     * Reads a number that a peer writes. Later reads of the region return data that is at least as
     * new.
     *
     * <p>This orders the reads of this processor. It does not order the writes of the adapter: the
     * bytes of a single write of a peer may be placed in any order and, with {@link
     * Access#RELAXED_ORDERING}, so may several writes. Most adapters place the bytes of one write
     * in ascending order, but none guarantees it. A peer that needs a guarantee writes with
     * immediate data, whose completion this side waits for.
     *
     * @param offset the offset in the region, a multiple of 8
     */
    public long readLongAcquire(long offset) {
        return (long) LONG.getAcquire(registration.memory(), offset);
    }

    /** Reads a number of 4 bytes at a multiple of 4; otherwise like {@link #readLongAcquire}. */
    public int readIntAcquire(long offset) {
        return (int) INT.getAcquire(registration.memory(), offset);
    }
}
