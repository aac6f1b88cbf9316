package org.jrdma.verbs.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.ArenaCloser;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.MemoryRegistration;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * An arena whose segments are registered memory. Work requests and, within the access rights of the
 * arena, peers can use the memory.
 *
 * <p>{@link #region} allocates memory with a registration of its own, as a {@link MemoryRegion}.
 * {@link #allocate} allocates a segment as a part of a larger region that several segments share.
 * Owned by its {@link org.jrdma.verbs.ProtectionDomain}. Safe for use by multiple threads.
 *
 * <p>Closing the arena deregisters the memory and then frees it; the segments become inaccessible.
 * If the system fails to deregister a region, the memory of the arena is never freed, because the
 * adapter might still write to it. {@link #close()} waits up to ten seconds for I/O operations of
 * other threads that use a segment. If such an operation takes longer, the memory is never freed.
 */
public final class RegisteredArena extends NativeObject implements Arena {

    /** The page size of the memory of an arena. */
    public enum PageSize {
        /** The normal pages of the machine. */
        NORMAL,
        /**
         * Huge pages of the machine's default size, which the administrator must have reserved.
         * They require fewer entries in the adapter's translation tables.
         */
        HUGE
    }

    /** The largest size that a program can request, which exceeds every address space. */
    static final long MAX_BYTES = 1L << 57;

    private static final long CHUNK_BYTES = 1 << 20;
    private static final long PAGE_BYTES = LinuxCalls.pageBytes();

    private final DomainHandle domain;
    private final PageSize pages;
    private final Set<Access> access;
    private final Memory memory;

    /** The regions from which {@link #allocate} takes segments, by the address of the region. */
    private final TreeMap<Long, MemoryRegion> chunks = new TreeMap<>();

    private @Nullable MemoryRegion chunk;
    private long used;

    /**
     * The regions to close with this arena. The arena keeps a reference to each region, so that a
     * region that the program no longer references is not reported as a leak. Closed regions are
     * removed from time to time.
     */
    private final ArrayList<MemoryRegion> regions = new ArrayList<>();

    private int pruneThreshold = 16;

    RegisteredArena(DomainHandle domain, PageSize pages, Set<Access> access) {
        this(domain, pages, access, new Memory());
    }

    private RegisteredArena(
            DomainHandle domain, PageSize pages, Set<Access> access, Memory memory) {
        super(MemorySegment.NULL, lifetime(domain, access, memory));
        this.domain = domain;
        this.pages = pages;
        this.access = access;
        this.memory = memory;
    }

    private static Lifetime lifetime(DomainHandle domain, Set<Access> access, Memory memory) {
        try (var _ = domain.lifetime().held()) {
            return new Lifetime(
                    "arena %s on %s".formatted(Access.describe(access), domain.device().name()),
                    List.of(domain.lifetime()),
                    memory::free);
        }
    }

    /**
     * Allocates memory with a registration of its own. The memory is page-aligned and filled with
     * zeros. In C: {@code ibv_reg_mr}; with an optional right, {@code ibv_reg_mr_iova2}.
     *
     * @throws VerbsException if the registration fails; the message includes the limit of locked
     *     memory
     */
    public MemoryRegion region(long bytes) throws VerbsException {
        try (var _ = lifetime().held()) {
            var segment = map(bytes);
            return register(segment, MemoryRegistration.start(segment, access));
        }
    }

    /**
     * Allocates memory as {@link #region} does, but with a given address of its first byte in work
     * requests and for peers. For example, all processes of an application can use the same address
     * for their regions. In C: {@code ibv_reg_mr_iova}.
     *
     * @param start the address of the first byte in work requests and for peers. It must be a
     *     multiple of the page size
     * @throws VerbsException if the registration fails, or the library is too old
     */
    public MemoryRegion regionAt(long start, long bytes) throws VerbsException {
        try (var _ = lifetime().held()) {
            var segment = map(bytes);
            return register(segment, start);
        }
    }

    private MemoryRegion register(MemorySegment segment, long start) throws VerbsException {
        return keep(
                new MemoryRegion(
                        MemoryRegistration.of(
                                domain,
                                segment,
                                start,
                                access,
                                List.of(lifetime()),
                                this,
                                memory)));
    }

    private synchronized MemoryRegion keep(MemoryRegion region) {
        if (regions.size() >= pruneThreshold) {
            regions.removeIf(kept -> !kept.isOpen());
            pruneThreshold = Math.max(16, 2 * regions.size());
        }
        regions.add(region);
        return region;
    }

    private MemorySegment map(long bytes) throws VerbsException {
        FieldRangeChecks.check("number of bytes", bytes, 1, MAX_BYTES);
        return memory.map(bytes, pages);
    }

    /**
     * Allocates memory that shares a registration with other segments of this arena. The memory is
     * filled with zeros. {@link #slice(MemorySegment)} returns the slice that represents the
     * segment in work requests.
     *
     * @throws IllegalStateException if the memory cannot be registered; the cause is a {@link
     *     VerbsException}
     */
    @Override
    public synchronized MemorySegment allocate(long byteSize, long byteAlignment) {
        if (byteSize < 0
                || byteSize > MAX_BYTES
                || byteAlignment < 1
                || byteAlignment > MAX_BYTES
                || Long.bitCount(byteAlignment) != 1) {
            throw new IllegalArgumentException(
                    "Invalid size %d or alignment %d".formatted(byteSize, byteAlignment));
        }
        try {
            var start = alignUp(used, byteAlignment);
            if (chunk == null
                    || !chunk.isOpen()
                    || byteAlignment > PAGE_BYTES
                    || start > chunk.length() - byteSize) {
                chunk =
                        region(
                                Math.max(
                                        CHUNK_BYTES,
                                        byteSize
                                                + (byteAlignment > PAGE_BYTES
                                                        ? byteAlignment
                                                        : 0)));
                chunks.put(chunk.segment().address(), chunk);
                start =
                        alignUp(chunk.segment().address(), byteAlignment)
                                - chunk.segment().address();
            }
            used = start + byteSize;
            return chunk.segment().asSlice(start, byteSize, byteAlignment);
        } catch (VerbsException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /**
     * Returns the slice that represents a segment in work requests.
     *
     * @param segment a segment that {@link #allocate} returned, or a part of such a segment
     * @throws IllegalArgumentException if the segment was not allocated from this arena
     */
    public synchronized MemorySlice slice(MemorySegment segment) {
        var entry = segment.isNative() ? chunks.floorEntry(segment.address()) : null;
        if (entry != null) {
            var region = entry.getValue();
            var offset = segment.address() - entry.getKey();
            if (offset + segment.byteSize() <= region.length()) {
                return region.slice(offset, segment.byteSize());
            }
        }
        throw new IllegalArgumentException("The segment was not allocated from " + this);
    }

    /** The scope of all segments of this arena. The scope is alive until the arena is closed. */
    @Override
    public MemorySegment.Scope scope() {
        return memory.arena.scope();
    }

    private static long alignUp(long value, long alignment) {
        return (value + alignment - 1) & -alignment;
    }

    /**
     * The memory of an arena, which is freed after all its registrations have been closed. It does
     * not refer to the {@code RegisteredArena}, so that an arena that was not closed can be
     * reported as a leak.
     */
    private static final class Memory {

        final Arena arena = Arena.ofShared();

        MemorySegment map(long bytes, PageSize pages) throws VerbsException {
            try {
                return pages == PageSize.HUGE
                        ? LinuxCalls.mapHugePages(bytes, arena)
                        : LinuxCalls.mapPages(bytes, arena);
            } catch (FabricException e) {
                var advice =
                        pages == PageSize.HUGE
                                ? ". Reserve huge pages with \"sysctl vm.nr_hugepages=N\";"
                                        + " /proc/meminfo shows how many are free."
                                : ".";
                throw new VerbsException("mmap", e.getMessage() + advice);
            }
        }

        void free() throws FabricException {
            if (!MemoryRegistration.isNeverFreed(this)) {
                ArenaCloser.close(arena);
            }
        }
    }
}
