package org.jrdma.verbs.handle;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.LockedMemoryAdvice;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.internal.VerbsEnumCodes;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** Memory that is registered with a device: the native part of a memory region. */
public final class MemoryRegistration {

    /** The value of {@code backing} for a null region, which has no memory. */
    private static final Object NO_MEMORY = new Object();

    private final Scope scope;
    private final NativeRegion region;
    private final long length;
    private final Set<Access> access;
    private final int localKey;
    private final int remoteKey;
    private final Lifetime lifetime;

    /**
     * The parameters of a registration: the memory, its access rights, and its owners.
     *
     * @param start the address by which requests and peers access the first byte
     * @param length the length in bytes; ignored for an imported region, whose length the provider
     *     reports
     * @param owners the lifetimes that own the region; each closes the region before it ends
     * @param source the arena or device memory that contains the memory, which the region keeps
     *     reachable; null if there is none
     * @param backing the object that keeps the memory allocated, kept reachable until the adapter
     *     no longer accesses the memory
     */
    private record Scope(
            DomainHandle domain,
            MemorySegment memory,
            long start,
            long length,
            Set<Access> access,
            List<Lifetime> owners,
            @Nullable NativeObject source,
            Object backing) {

        /**
         * Returns the parameters for memory that is not in this process. The protection domain owns
         * the region.
         */
        static Scope elsewhere(
                DomainHandle domain, long start, long length, Set<Access> access, Object backing) {
            return new Scope(
                    domain,
                    MemorySegment.NULL,
                    start,
                    length,
                    access,
                    List.of(domain.lifetime()),
                    null,
                    backing);
        }
    }

    /**
     * Creates a registration. The lifetime is created last: it deregisters the region when it ends.
     * If an earlier step fails, {@link #of(Scope, NativeRegion)} deregisters the region.
     */
    private MemoryRegistration(Scope scope, NativeRegion region) {
        this.scope = scope;
        this.region = region;
        this.length = region.imported ? MemoryFunctions.regionLength(region.address) : scope.length;
        this.access = Set.copyOf(scope.access);
        this.localKey = MemoryFunctions.localKey(region.address);
        this.remoteKey = MemoryFunctions.remoteKey(region.address);
        var name =
                String.format(
                        Locale.ROOT,
                        "memory region of %,d bytes %s on %s",
                        length,
                        Access.describe(scope.access),
                        scope.domain.device().name());
        this.lifetime = new Lifetime(name, scope.owners, () -> region.release(name));
    }

    /** Creates a registration. Deregisters the native region if the creation fails. */
    private static MemoryRegistration of(Scope scope, NativeRegion region) throws VerbsException {
        try {
            return new MemoryRegistration(scope, region);
        } catch (Throwable e) {
            region.release("a region whose creation failed");
            throw e;
        }
    }

    private static MemoryRegistration make(
            Scope scope, boolean imported, GuardedCalls.Call<MemorySegment> registering)
            throws VerbsException {
        try (var _ = Lifetime.holdAll(scope.owners)) {
            return of(
                    scope,
                    new NativeRegion(
                            functions(scope.domain),
                            BlockingCalls.call(registering::run),
                            imported,
                            scope.backing));
        }
    }

    private static MemoryFunctions functions(DomainHandle domain) {
        return domain.device().library().memory();
    }

    /**
     * Registers memory. Requests address its first byte by its virtual address, or as 0 with {@link
     * Access#ZERO_BASED}.
     *
     * @param backing the object that owns the memory
     */
    public static MemoryRegistration of(
            DomainHandle domain, MemorySegment memory, Set<Access> access, Object backing)
            throws VerbsException {
        return of(
                domain,
                memory,
                start(memory, access),
                access,
                List.of(domain.lifetime()),
                null,
                backing);
    }

    /**
     * Registers memory.
     *
     * @param start the address by which requests and peers access the first byte
     * @param owners the lifetimes that own the region; each closes the region before it ends
     * @param source the arena or device memory that contains the memory, which the region keeps
     *     reachable; null if there is none
     * @param backing the object that keeps the memory allocated, kept reachable until the adapter
     *     no longer accesses the memory
     */
    public static MemoryRegistration of(
            DomainHandle domain,
            MemorySegment memory,
            long start,
            Set<Access> access,
            List<Lifetime> owners,
            @Nullable NativeObject source,
            Object backing)
            throws VerbsException {
        checkLength(memory.byteSize());
        var length = memory.byteSize();
        var attempt = attempt("ibv_reg_mr", domain, length, access);
        var recorded = new RegistrationJfrEvent();
        recorded.begin();
        var made =
                make(
                        new Scope(domain, memory, start, length, access, owners, source, backing),
                        false,
                        () ->
                                functions(domain)
                                        .register(
                                                domain.address(),
                                                memory,
                                                start,
                                                VerbsEnumCodes.ACCESS.bits(access),
                                                attempt));
        recorded.commit(domain.device().name(), length, access);
        return made;
    }

    /**
     * Returns the default of the address by which requests and peers access the first byte of
     * memory.
     */
    public static long start(MemorySegment memory, Set<Access> access) {
        return MemoryFunctions.start(memory, VerbsEnumCodes.ACCESS.bits(access));
    }

    private static void checkLength(long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("A memory region must have at least one byte");
        }
    }

    /** Creates a null memory region, which discards the data that is written to it. */
    public static MemoryRegistration ofNull(DomainHandle domain) throws VerbsException {
        var access = Set.of(Access.LOCAL_WRITE);
        return make(
                Scope.elsewhere(domain, 0, Long.MAX_VALUE, access, NO_MEMORY),
                false,
                () ->
                        functions(domain)
                                .allocateNull(
                                        domain.device().context(),
                                        domain.address(),
                                        attempt("ibv_alloc_null_mr", domain, 0, access)));
    }

    /** Registers the address space of the process with on-demand paging. */
    public static MemoryRegistration ofAddressSpace(DomainHandle domain, Set<Access> access)
            throws VerbsException {
        var rights = EnumSet.of(Access.ON_DEMAND);
        rights.addAll(access);
        var addressSpace = MemoryFunctions.addressSpace();
        return make(
                new Scope(
                        domain,
                        addressSpace,
                        0,
                        addressSpace.byteSize(),
                        rights,
                        List.of(domain.lifetime()),
                        null,
                        addressSpace),
                false,
                () ->
                        functions(domain)
                                .registerAddressSpace(
                                        domain.address(),
                                        VerbsEnumCodes.ACCESS.bits(rights),
                                        attempt("ibv_reg_mr", domain, Long.MAX_VALUE, rights)));
    }

    public static MemoryRegistration ofDmaBuf(
            DomainHandle domain,
            int descriptor,
            long offset,
            long length,
            long start,
            Set<Access> access)
            throws VerbsException {
        checkLength(length);
        return make(
                Scope.elsewhere(domain, start, length, access, MemorySegment.NULL),
                false,
                () ->
                        functions(domain)
                                .registerDmaBuf(
                                        domain.address(),
                                        descriptor,
                                        offset,
                                        length,
                                        start,
                                        VerbsEnumCodes.ACCESS.bits(access),
                                        attempt("ibv_reg_dmabuf_mr", domain, length, access)));
    }

    public static MemoryRegistration ofDevice(
            DomainHandle domain,
            NativeObject memory,
            NativeResource resource,
            long memoryLength,
            long offset,
            long length,
            Set<Access> rights)
            throws VerbsException {
        Objects.checkFromIndexSize(offset, length, memoryLength);
        checkLength(length);
        var access = EnumSet.of(Access.ZERO_BASED);
        access.addAll(rights);
        return make(
                new Scope(
                        domain,
                        MemorySegment.NULL,
                        0,
                        length,
                        access,
                        List.of(domain.lifetime(), resource.lifetime()),
                        memory,
                        MemorySegment.NULL),
                false,
                () ->
                        functions(domain)
                                .registerDeviceMemory(
                                        domain.device().context(),
                                        domain.address(),
                                        resource.address(),
                                        offset,
                                        length,
                                        VerbsEnumCodes.ACCESS.bits(access),
                                        attempt("ibv_reg_dm_mr", domain, length, access)));
    }

    public static MemoryRegistration importFrom(
            DomainHandle domain, int handle, long start, Set<Access> access) throws VerbsException {
        var attempt =
                CheckedCall.to(
                        "ibv_import_mr", () -> "for handle %d in %s".formatted(handle, domain));
        return make(
                Scope.elsewhere(domain, start, 0, access, MemorySegment.NULL),
                true,
                () -> functions(domain).importRegion(domain.address(), handle, attempt));
    }

    private static CheckedCall attempt(
            String function, DomainHandle domain, long bytes, Set<Access> access) {
        var remoteWithoutLocalWrite =
                !access.contains(Access.LOCAL_WRITE)
                        && (access.contains(Access.REMOTE_WRITE)
                                || access.contains(Access.REMOTE_ATOMIC));
        return new CheckedCall(
                function,
                () ->
                        String.format(
                                Locale.ROOT,
                                "for %,d bytes %s on %s",
                                bytes,
                                Access.describe(access),
                                domain.device().name()),
                errno -> LockedMemoryAdvice.adviceOnRegistering(errno, remoteWithoutLocalWrite));
    }

    /** Calls {@code ibv_rereg_mr}. */
    private interface Change {
        /**
         * Makes the call.
         *
         * @param lost the action to run if the failed call has made the region unusable
         */
        void make(CheckedCall attempt, Runnable lost) throws VerbsException;
    }

    /**
     * Changes the access rights of the region. If the call succeeds, the returned registration
     * replaces this registration.
     */
    public MemoryRegistration changeAccess(Set<Access> access) throws VerbsException {
        return change(
                new Scope(
                        scope.domain,
                        scope.memory,
                        scope.start,
                        scope.length,
                        access,
                        scope.owners,
                        scope.source,
                        scope.backing),
                (attempt, lost) ->
                        region.functions.changeAccess(
                                region.address, VerbsEnumCodes.ACCESS.bits(access), attempt, lost));
    }

    /**
     * Moves the region to another protection domain of the same device. If the call succeeds, the
     * returned registration replaces this registration.
     */
    public MemoryRegistration changeDomain(DomainHandle next) throws VerbsException {
        if (next.device() != scope.domain.device()) {
            throw new IllegalArgumentException(next + " and " + this + " are on different devices");
        }
        return change(
                new Scope(
                        next,
                        scope.memory,
                        scope.start,
                        scope.length,
                        scope.access,
                        scope.source == null
                                ? List.of(next.lifetime())
                                : List.of(scope.owners.getFirst(), next.lifetime()),
                        scope.source,
                        scope.backing),
                (attempt, lost) ->
                        region.functions.changeDomain(
                                region.address, next.address(), attempt, lost));
    }

    /**
     * Replaces the memory of the region. If the call succeeds, the returned registration replaces
     * this registration.
     */
    public MemoryRegistration changeMemory(MemorySegment next) throws VerbsException {
        return change(
                new Scope(
                        scope.domain,
                        next,
                        start(next, scope.access),
                        next.byteSize(),
                        scope.access,
                        scope.owners,
                        scope.source,
                        next),
                (attempt, lost) ->
                        region.functions.changeMemory(region.address, next, attempt, lost));
    }

    private MemoryRegistration change(Scope next, Change change) throws VerbsException {
        if (scope.memory.byteSize() == 0) {
            throw new UnsupportedOperationException(
                    "%s cannot be changed because its memory is not in this process"
                            .formatted(this));
        }
        var attempt = attempt("ibv_rereg_mr", next.domain, next.memory.byteSize(), next.access);
        lifetime.hold();
        try {
            try (var _ = Lifetime.holdAll(next.owners)) {
                synchronized (region) {
                    if (region.released || region.unusable) {
                        throw lifetime.closedException();
                    }
                    BlockingCalls.call(() -> {
                        change.make(attempt, () -> region.unusable = true);
                        return this;
                    });
                    return of(next, region.transfer(next.backing));
                }
            }
        } finally {
            lifetime.release();
            if (region.released || region.unusable) {
                lifetime.close();
            }
        }
    }

    /**
     * Returns true if memory must not be freed, because the system failed to deregister a region
     * that contains it.
     */
    public static boolean isNeverFreed(Object backing) {
        return NativeRegion.isNeverFreed(backing);
    }

    public DomainHandle domain() {
        return scope.domain;
    }

    public MemorySegment address() {
        return region.address;
    }

    public Lifetime lifetime() {
        return lifetime;
    }

    public MemorySegment memory() {
        return scope.memory;
    }

    public long start() {
        return scope.start;
    }

    public long length() {
        return length;
    }

    public Set<Access> access() {
        return access;
    }

    public int localKey() {
        return localKey;
    }

    public int remoteKey() {
        return remoteKey;
    }

    public boolean isNull() {
        return scope.backing == NO_MEMORY;
    }

    /**
     * Returns true if the address of the memory in requests equals its virtual address in this
     * process.
     */
    public boolean isInPlace() {
        return scope.memory.byteSize() > 0 && scope.start == scope.memory.address();
    }

    @Override
    public String toString() {
        return lifetime.toString();
    }
}
