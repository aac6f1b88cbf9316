package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Collections;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.Codes;
import org.jrdma.verbs.internal.LockedMemory;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * Memory that an adapter may use, for this side's work requests and, as far as its rights go, for
 * peers.
 *
 * <p>Owned by the arena or the domain that made it; its memory lives as long as that arena or
 * buffer, also when the region is closed before. Only {@link #address()} and work requests refuse a
 * closed region; its keys and its length are plain numbers, and stay. Safe for use by several
 * threads. Closing it takes the adapter's access away; operations under way then fail. In C: {@code
 * struct ibv_mr}; {@link #close()} is {@code ibv_dereg_mr}.
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

    /** What a region of no memory belongs to. */
    private static final Object NOTHING = new Object();

    private final ProtectionDomain domain;
    private final MemorySegment memory;
    private final long start;
    private final long length;
    private final Set<Access> access;
    private final Registration registration;
    private final int localKey;
    private final int remoteKey;

    /** What it ends with. */
    private final List<Lifetime> endings;

    /** The arena, or the domain: in use as long as this is. */
    private final NativeObject owner;

    /**
     * What a region is, apart from its registration.
     *
     * @param length of no meaning where it is imported: C tells it then
     * @param endings what it ends with
     * @param owner the arena, or the domain
     */
    private record Form(
            ProtectionDomain domain,
            MemorySegment memory,
            long start,
            long length,
            Set<Access> access,
            List<Lifetime> endings,
            NativeObject owner) {

        /** Of no memory of this side's, and of the domain alone. */
        static Form elsewhere(
                ProtectionDomain domain, long start, long length, Set<Access> access) {
            return new Form(
                    domain,
                    MemorySegment.NULL,
                    start,
                    length,
                    access,
                    List.of(domain.ownLifetime()),
                    domain);
        }
    }

    private MemoryRegion(Form form, Registration registration) {
        // All that may fail comes before the lifetime, which ends the registration too.
        var known =
                registration.imported
                        ? MemoryFunctions.regionLength(registration.address)
                        : form.length;
        var name =
                String.format(
                        Locale.ROOT,
                        "memory region of %,d bytes %s on %s",
                        known,
                        Access.describe(form.access),
                        form.domain.device().name());
        this.localKey = MemoryFunctions.localKey(registration.address);
        this.remoteKey = MemoryFunctions.remoteKey(registration.address);
        this.access = Set.copyOf(form.access);
        super(registration.address, new Lifetime(name, form.endings, () -> registration.end(name)));
        this.domain = form.domain;
        this.memory = form.memory;
        this.start = form.start;
        this.length = known;
        this.registration = registration;
        this.endings = form.endings;
        this.owner = form.owner;
    }

    /** Ends the registration if there can be no region of it. */
    private static MemoryRegion of(Form form, Registration registration) throws VerbsException {
        try {
            return new MemoryRegion(form, registration);
        } catch (Throwable e) {
            registration.end("a region that was not made");
            throw e;
        }
    }

    /**
     * Makes a region of what C registers.
     *
     * @param backing what the memory belongs to
     * @param imported whether another process answers for it
     */
    private static MemoryRegion make(
            Form form,
            Object backing,
            boolean imported,
            PlatformCalls.Call<MemorySegment, VerbsException> registering)
            throws VerbsException {
        Lifetime.holdAll(form.endings);
        try {
            return of(
                    form,
                    new Registration(
                            form.domain.device().library().memory(),
                            PlatformCalls.call(registering),
                            backing,
                            imported));
        } finally {
            form.endings.forEach(Lifetime::release);
        }
    }

    /** The structure in C, as long as it is this region's: it is passed on to a changed one. */
    private static final class Registration {

        private final MemoryFunctions functions;
        private final MemorySegment address;
        private final Object backing;
        private final boolean imported;

        /** Whether it is ended, or passed on. */
        private boolean over;

        private boolean useless;

        /**
         * @param backing what the memory belongs to, kept from being collected before the adapter
         *     has let go of it
         * @param imported whether another process answers for it, and has the memory
         */
        Registration(
                MemoryFunctions functions,
                MemorySegment address,
                Object backing,
                boolean imported) {
            this.functions = functions;
            this.address = address;
            this.backing = backing;
            this.imported = imported;
        }

        synchronized Registration passOn(Object nextBacking) {
            over = true;
            return new Registration(functions, address, nextBacking, imported);
        }

        synchronized void end(String name) throws VerbsException {
            if (over) {
                return;
            }
            over = true;
            if (imported) {
                functions.unimportRegion(address);
                return;
            }
            try {
                functions.deregister(address, Attempt.to("ibv_dereg_mr", () -> "for " + name));
            } catch (Throwable e) {
                NEVER_FREED.add(backing);
                throw e;
            }
        }
    }

    /** Registers memory, whose first byte is named by its own address, or by 0 if zero-based. */
    static MemoryRegion register(
            ProtectionDomain domain,
            MemorySegment memory,
            Set<Access> access,
            Lifetime ending,
            NativeObject owner,
            Object backing)
            throws VerbsException {
        var start = MemoryFunctions.start(memory, Codes.ACCESS.bits(access));
        return register(domain, memory, start, access, ending, owner, backing);
    }

    /**
     * Registers memory.
     *
     * @param start by which address requests and peers name its first byte
     * @param ending the owner's lifetime
     * @param backing what the memory belongs to
     */
    static MemoryRegion register(
            ProtectionDomain domain,
            MemorySegment memory,
            long start,
            Set<Access> access,
            Lifetime ending,
            NativeObject owner,
            Object backing)
            throws VerbsException {
        checkLength(memory.byteSize());
        var functions = domain.device().library().memory();
        var attempt = attempt("ibv_reg_mr", domain, memory.byteSize(), access);
        var recorded = new RegistrationRecord();
        recorded.begin();
        var region =
                make(
                        new Form(
                                domain,
                                memory,
                                start,
                                memory.byteSize(),
                                access,
                                List.of(ending),
                                owner),
                        backing,
                        false,
                        () ->
                                functions.register(
                                        domain.address(),
                                        memory,
                                        start,
                                        Codes.ACCESS.bits(access),
                                        attempt));
        recorded.commit(domain.device().name(), memory.byteSize(), access);
        return region;
    }

    private static void checkLength(long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("A region of no bytes cannot be registered");
        }
    }

    /** A region of no memory; see {@link ProtectionDomain#newNullRegion()}. */
    static MemoryRegion ofNothing(ProtectionDomain domain) throws VerbsException {
        var access = Set.of(Access.LOCAL_WRITE);
        return make(
                Form.elsewhere(domain, 0, Long.MAX_VALUE, access),
                NOTHING,
                false,
                () ->
                        domain.device()
                                .library()
                                .memory()
                                .allocateNull(
                                        domain.device().context(),
                                        domain.address(),
                                        attempt("ibv_alloc_null_mr", domain, 0, access)));
    }

    /** See {@link ProtectionDomain#registerEverythingUnguarded}. */
    static MemoryRegion ofEverything(ProtectionDomain domain, Set<Access> access)
            throws VerbsException {
        var rights = EnumSet.of(Access.ON_DEMAND);
        rights.addAll(access);
        var everything = MemoryFunctions.everything();
        return make(
                new Form(
                        domain,
                        everything,
                        0,
                        everything.byteSize(),
                        rights,
                        List.of(domain.ownLifetime()),
                        domain),
                everything,
                false,
                () ->
                        domain.device()
                                .library()
                                .memory()
                                .registerEverything(
                                        domain.address(),
                                        Codes.ACCESS.bits(rights),
                                        attempt("ibv_reg_mr", domain, Long.MAX_VALUE, rights)));
    }

    /** See {@link ProtectionDomain#registerDmaBuf}. */
    static MemoryRegion ofDmaBuf(
            ProtectionDomain domain,
            int descriptor,
            long offset,
            long length,
            long start,
            Set<Access> access)
            throws VerbsException {
        checkLength(length);
        return make(
                Form.elsewhere(domain, start, length, access),
                MemorySegment.NULL,
                false,
                () ->
                        domain.device()
                                .library()
                                .memory()
                                .registerDmaBuf(
                                        domain.address(),
                                        descriptor,
                                        offset,
                                        length,
                                        start,
                                        Codes.ACCESS.bits(access),
                                        attempt("ibv_reg_dmabuf_mr", domain, length, access)));
    }

    /** A region of the device's own memory. */
    static MemoryRegion ofDevice(
            ProtectionDomain domain,
            DeviceMemory memory,
            long offset,
            long length,
            Set<Access> rights)
            throws VerbsException {
        Objects.checkFromIndexSize(offset, length, memory.length());
        checkLength(length);
        if (memory.device() != domain.device()) {
            throw new IllegalArgumentException(memory + " is of another device than " + domain);
        }
        var access = EnumSet.of(Access.ZERO_BASED);
        access.addAll(rights);
        return make(
                new Form(
                        domain,
                        MemorySegment.NULL,
                        0,
                        length,
                        access,
                        List.of(domain.ownLifetime(), memory.ownLifetime()),
                        domain),
                memory,
                false,
                () ->
                        domain.device()
                                .library()
                                .memory()
                                .registerDeviceMemory(
                                        domain.device().context(),
                                        domain.address(),
                                        memory.address(),
                                        offset,
                                        length,
                                        Codes.ACCESS.bits(access),
                                        attempt("ibv_reg_dm_mr", domain, length, access)));
    }

    /** See {@link ProtectionDomain#importRegion}. */
    static MemoryRegion imported(
            ProtectionDomain domain, int handle, long start, Set<Access> access)
            throws VerbsException {
        var attempt = Attempt.to("ibv_import_mr", () -> "%d in %s".formatted(handle, domain));
        return make(
                Form.elsewhere(domain, start, 0, access),
                MemorySegment.NULL,
                true,
                () ->
                        domain.device()
                                .library()
                                .memory()
                                .importRegion(domain.address(), handle, attempt));
    }

    private static Attempt attempt(
            String function, ProtectionDomain domain, long bytes, Set<Access> access) {
        var remoteWithoutLocalWrite =
                !access.contains(Access.LOCAL_WRITE)
                        && (access.contains(Access.REMOTE_WRITE)
                                || access.contains(Access.REMOTE_ATOMIC));
        return new Attempt(
                function,
                () -> ProtectionDomain.describe(bytes, access, domain.device()),
                errno -> LockedMemory.adviceOnRegistering(errno, remoteWithoutLocalWrite));
    }

    /**
     * Gives it other rights. As all re-registration, this is quicker than a new registration where
     * the device can do it, ends what peers may do with the old keys, and needs that no work
     * request which names this region is under way. In C: {@code ibv_rereg_mr}.
     *
     * @return the region as it is now, with keys of its own; this one is closed
     * @throws VerbsException if the device refuses. This region stays as it was, or is closed if
     *     the device has left it useless
     */
    public MemoryRegion reregister(Access... access) throws VerbsException {
        var rights = Access.setOf(access);
        return change(
                domain,
                memory,
                start,
                rights,
                registration.backing,
                endings,
                owner,
                (attempt, lost) ->
                        registration.functions.changeAccess(
                                registration.address, Codes.ACCESS.bits(rights), attempt, lost));
    }

    /**
     * Moves it to another domain of the same device; as {@link #reregister(Access...)}. It is
     * closed with whichever of its arena and that domain is closed first. In C: {@code
     * ibv_rereg_mr}.
     */
    public MemoryRegion reregisterIn(ProtectionDomain next) throws VerbsException {
        if (next.device() != domain.device()) {
            throw new IllegalArgumentException(next + " is of another device than " + this);
        }
        var ofDomain = owner == domain;
        var nextEndings =
                ofDomain
                        ? List.of(next.ownLifetime())
                        : List.of(endings.getFirst(), next.ownLifetime());
        return change(
                next,
                memory,
                start,
                access,
                registration.backing,
                nextEndings,
                ofDomain ? next : owner,
                (attempt, lost) ->
                        registration.functions.changeDomain(
                                registration.address, next.address(), attempt, lost));
    }

    /**
     * Moves it to other memory, for which the caller answers as for that of {@link
     * ProtectionDomain#registerUnguarded}; as {@link #reregister(Access...)}. In C: {@code
     * ibv_rereg_mr}.
     *
     * @throws IllegalArgumentException if the segment is on the heap or empty
     */
    public MemoryRegion reregisterUnguarded(MemorySegment next) throws VerbsException {
        if (!next.isNative() || next.byteSize() == 0) {
            throw new IllegalArgumentException("Only native memory can be registered: " + next);
        }
        return change(
                domain,
                next,
                MemoryFunctions.start(next, Codes.ACCESS.bits(access)),
                access,
                next,
                endings,
                owner,
                (attempt, lost) ->
                        registration.functions.changeMemory(
                                registration.address, next, attempt, lost));
    }

    /** A call of {@code ibv_rereg_mr}. */
    private interface Change {

        /**
         * @param lost to be run if the region is useless now
         */
        void make(Attempt attempt, Runnable lost) throws VerbsException;
    }

    private MemoryRegion change(
            ProtectionDomain nextDomain,
            MemorySegment nextMemory,
            long nextStart,
            Set<Access> nextAccess,
            Object nextBacking,
            List<Lifetime> nextEndings,
            NativeObject nextOwner,
            Change change)
            throws VerbsException {
        if (memory.byteSize() == 0) {
            throw new UnsupportedOperationException(
                    "%s is not of this side's memory, and cannot be changed".formatted(this));
        }
        var attempt = attempt("ibv_rereg_mr", nextDomain, nextMemory.byteSize(), nextAccess);
        lifetime().hold();
        try {
            Lifetime.holdAll(nextEndings);
            try {
                synchronized (registration) {
                    if (registration.over || registration.useless) {
                        throw lifetime().closedException();
                    }
                    PlatformCalls.call(() -> {
                        change.make(attempt, () -> registration.useless = true);
                        return this;
                    });
                    return of(
                            new Form(
                                    nextDomain,
                                    nextMemory,
                                    nextStart,
                                    nextMemory.byteSize(),
                                    nextAccess,
                                    nextEndings,
                                    nextOwner),
                            registration.passOn(nextBacking));
                }
            } finally {
                nextEndings.forEach(Lifetime::release);
            }
        } finally {
            lifetime().release();
            if (registration.over || registration.useless) {
                close();
            }
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

    /**
     * The kernel's number for it, by which another process {@linkplain
     * ProtectionDomain#importRegion imports} it.
     */
    public int handle() {
        lifetime().hold();
        try {
            return MemoryFunctions.regionHandle(address());
        } finally {
            lifetime().release();
        }
    }

    /**
     * Whether its requests' addresses are those of its memory, so that this side can read there.
     */
    boolean isInPlace() {
        return memory.byteSize() > 0 && start == memory.address();
    }

    /** The memory; empty where there is none, or none of this process. */
    public MemorySegment segment() {
        return memory;
    }

    /** Its length in bytes. */
    public long length() {
        return length;
    }

    /**
     * The address by which work requests and peers name its first byte: that of the memory, unless
     * it is {@linkplain Access#ZERO_BASED zero-based} or {@linkplain RegisteredArena#regionAt was
     * given another}.
     */
    public long startAddress() {
        return start;
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

    /**
     * What a peer needs to know to reach it.
     *
     * @throws IllegalStateException if it is {@linkplain ProtectionDomain#newNullRegion nowhere}
     */
    public RemoteMemory remote() {
        if (registration.backing == NOTHING) {
            throw new IllegalStateException("A null region is for this side's requests only");
        }
        return new RemoteMemory(start, remoteKey, length);
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

    Lifetime ownLifetime() {
        return lifetime();
    }
}
