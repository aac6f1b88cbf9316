package org.jrdma.verbs.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Set;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.MemoryRegistration;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.memory.access.MemoryPackageInternals;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * A registered memory region: memory that an adapter may access for local work requests and, within
 * the access rights of the region, for peers.
 *
 * <p>Owned by the arena or the protection domain that created it. Closing a region ends the
 * adapter's access, so operations in flight that use the region fail. Closing a region does not
 * free the memory, but unmaps a {@linkplain org.jrdma.verbs.ProtectionDomain#registerMapped mapped
 * file}. After a region has been closed, {@link #address()} and posts of requests that use the
 * region throw IllegalStateException. The keys and the length can still be read. Safe for use by
 * multiple threads. In C: {@code struct ibv_mr}; {@link #close()} is {@code ibv_dereg_mr}.
 */
public final class MemoryRegion extends NativeObject {

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    static {
        MemoryPackageInternals.open(new MemoryPackageInternalsImpl());
    }

    private final MemoryRegistration registration;

    MemoryRegion(MemoryRegistration registration) {
        super(registration.address(), registration.lifetime());
        this.registration = registration;
    }

    /**
     * Registers the memory again with other access rights. If the device supports this, it is
     * faster than closing the region and creating a new region. No work request that uses this
     * region may be in flight. The remote key that the program sent to peers becomes invalid. In C:
     * {@code ibv_rereg_mr}.
     *
     * @return the new region, with its own keys; this region is closed
     * @throws VerbsException if the device rejects the change. In that case this region is
     *     unchanged, or it is closed if the device has made it unusable
     */
    public MemoryRegion reregister(Access... access) throws VerbsException {
        return new MemoryRegion(registration.changeAccess(Access.setOf(access)));
    }

    /**
     * Registers other memory in place of this region's memory. The requirements and effects are
     * those of {@link #reregister}. In addition, the caller must not free the memory before the new
     * region is closed, as for {@link org.jrdma.verbs.ProtectionDomain#registerUnguarded}. In C:
     * {@code ibv_rereg_mr}.
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

    MemoryRegistration registration() {
        return registration;
    }

    /**
     * The number of this region in the kernel, which another process passes to {@link
     * org.jrdma.verbs.ProtectionDomain#importRegion}.
     */
    public int handle() {
        try (var _ = lifetime().held()) {
            return MemoryFunctions.regionHandle(address());
        }
    }

    /** The memory of the region; an empty segment if the region has no memory in this process. */
    public MemorySegment segment() {
        return registration.memory();
    }

    /** The length of the region in bytes. */
    public long length() {
        return registration.length();
    }

    /**
     * The address of the first byte in work requests and for peers. It is the virtual address of
     * the memory, unless the region is {@linkplain Access#ZERO_BASED zero-based}, was created with
     * {@linkplain RegisteredArena#regionAt another address}, or has no memory in this process.
     */
    public long startAddress() {
        return registration.start();
    }

    /** The access rights of the region. */
    public Set<Access> access() {
        return registration.access();
    }

    /** The key that identifies the region in local work requests. In C: {@code lkey}. */
    public int localKey() {
        return registration.localKey();
    }

    /** The key that identifies the region in the requests of peers. In C: {@code rkey}. */
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
     * The address, key and length that a peer needs to access the region.
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
     * Reads a long value that a peer writes, with acquire semantics: later reads by this thread are
     * not executed before this read.
     *
     * <p>Acquire semantics order the reads of this thread, but not the writes of the adapter. The
     * adapter may store the bytes of a single RDMA write in any order and, with {@link
     * Access#RELAXED_ORDERING}, also the bytes of several writes. Most adapters store the bytes of
     * one write in ascending order; {@link org.jrdma.verbs.QueuePair#dataOrder} reports whether the
     * adapter guarantees this order. Alternatively, the peer writes with immediate data, and this
     * side waits for the completion before it reads the memory.
     *
     * @param offset the offset of the value in the region, a multiple of 8
     */
    public long readLongAcquire(long offset) {
        return (long) LONG.getAcquire(registration.memory(), offset);
    }
}
