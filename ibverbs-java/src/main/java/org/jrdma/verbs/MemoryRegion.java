package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.Codes;
import org.jrdma.verbs.internal.LockedMemory;
import org.jrdma.verbs.internal.MemoryFunctions;

/**
 * Memory that an adapter may use, for this side's work requests and, as far as its rights go, for
 * peers.
 *
 * <p>Owned by the arena or the domain that made it; its memory lives as long as that arena or
 * buffer, also when the region is closed before. Only {@link #address()} and work requests refuse a
 * closed region; its keys and its length are plain numbers, and stay. Safe for use by several
 * threads. Closing it takes the adapter's access away; operations under way then fail. In C: {@code struct ibv_mr}; {@link #close()} is {@code ibv_dereg_mr}.
 */
public final class MemoryRegion extends NativeObject {

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    /**
     * What regions belong to that the system would not deregister: kept for ever, since an adapter
     * may still write there.
     */
    private static final Set<Object> NEVER_FREED =
            Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

    private final ProtectionDomain domain;
    private final MemorySegment memory;
    private final Set<Access> access;
    private final int localKey;
    private final int remoteKey;

    /** The arena, or the domain: in use as long as this is. */
    @SuppressWarnings("unused")
    private final NativeObject owner;

    private MemoryRegion(
            ProtectionDomain domain,
            MemorySegment memory,
            Set<Access> access,
            MemorySegment address,
            Lifetime lifetime,
            NativeObject owner) {
        super(address, lifetime);
        this.domain = domain;
        this.memory = memory;
        this.access = Set.copyOf(access);
        this.localKey = MemoryFunctions.localKey(address);
        this.remoteKey = MemoryFunctions.remoteKey(address);
        this.owner = owner;
    }

    /**
     * Registers memory.
     *
     * @param ending the owner's lifetime
     * @param backing what the memory belongs to, kept from being collected before the adapter has
     *     let go of it
     */
    static MemoryRegion register(
            ProtectionDomain domain,
            MemorySegment memory,
            Set<Access> access,
            Lifetime ending,
            NativeObject owner,
            Object backing)
            throws VerbsException {
        if (memory.byteSize() == 0) {
            throw new IllegalArgumentException("A region of no bytes cannot be registered");
        }
        var device = domain.device();
        var functions = device.library().memory();
        var remoteWithoutLocalWrite =
                !access.contains(Access.LOCAL_WRITE)
                        && (access.contains(Access.REMOTE_WRITE)
                                || access.contains(Access.REMOTE_ATOMIC));
        var attempt =
                new Attempt(
                        "ibv_reg_mr",
                        () -> ProtectionDomain.describe(memory.byteSize(), access, device),
                        errno -> LockedMemory.adviceOnRegistering(errno, remoteWithoutLocalWrite));
        var recorded = new RegistrationRecord();
        recorded.begin();
        domain.ownLifetime().hold();
        try {
            var name =
                    "memory region of %,d bytes %s on %s"
                            .formatted(memory.byteSize(), Access.describe(access), device.name());
            var address =
                    PlatformCalls.call(() ->
                            functions.register(
                                    domain.address(), memory, Codes.ACCESS.bits(access), attempt));
            try {
                recorded.commit(device.name(), memory.byteSize(), access);
                var lifetime =
                        new Lifetime(
                                name,
                                List.of(ending),
                                () -> deregister(functions, address, name, backing));
                return new MemoryRegion(domain, memory, access, address, lifetime, owner);
            } catch (Throwable e) {
                deregister(functions, address, name, backing);
                throw e;
            }
        } finally {
            domain.ownLifetime().release();
        }
    }

    private static void deregister(
            MemoryFunctions functions, MemorySegment address, String name, Object backing)
            throws VerbsException {
        try {
            functions.deregister(address, Attempt.to("ibv_dereg_mr", () -> "for " + name));
        } catch (Throwable e) {
            NEVER_FREED.add(backing);
            throw e;
        }
    }

    /** Whether the system would not let go of a region of this memory. */
    static boolean isNeverFreed(Object backing) {
        return NEVER_FREED.contains(backing);
    }

    /** The domain it is registered in. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** The memory. */
    public MemorySegment segment() {
        return memory;
    }

    /** Its length in bytes. */
    public long length() {
        return memory.byteSize();
    }

    /** What may be done to it. */
    public Set<Access> access() {
        return access;
    }

    /** The key by which this side's requests name it. In C: {@code lkey}. */
    public int localKey() {
        return localKey;
    }

    /** The key by which peers name it. In C: {@code rkey}. */
    public int remoteKey() {
        return remoteKey;
    }

    /** All of it, for a work request. */
    public MemorySlice slice() {
        return slice(0, length());
    }

    /**
     * A part of it, for a work request.
     *
     * @throws IndexOutOfBoundsException if the part is not within
     */
    public MemorySlice slice(long offset, long length) {
        return new MemorySlice(this, offset, length);
    }

    /** What a peer needs to know to reach it. */
    public RemoteMemory remote() {
        var address = access.contains(Access.ZERO_BASED) ? 0 : memory.address();
        return new RemoteMemory(address, remoteKey, length());
    }

    /**
     * Reads a number that a peer writes, so that what is read of the region after it is at least as
     * new.
     *
     * <p>This orders what this processor reads. It does not order what the adapter wrote: a peer's
     * single write may be placed in any order, and with {@link Access#RELAXED_ORDERING} several may
     * too. Most adapters place the bytes of one write in ascending order, and none promises it. A
     * peer that must be sure writes with immediate data, and its completion is waited for.
     *
     * @param offset a multiple of 8
     */
    public long readLongAcquire(long offset) {
        return (long) LONG.getAcquire(memory, offset);
    }

    /** As {@link #readLongAcquire}, for a number of 4 bytes at a multiple of 4. */
    public int readIntAcquire(long offset) {
        return (int) INT.getAcquire(memory, offset);
    }

    long memoryAddress() {
        return memory.address();
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
