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
import org.jrdma.ffi.linkage.Linux;
import org.jrdma.ffi.linkage.SharedMemory;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.Registration;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * An arena whose memory is registered: what is allocated from it can be sent, received into, and
 * shown to peers.
 *
 * <p>{@link #region} gives a region of its own for each call. {@link #allocate} takes small pieces
 * out of larger regions, whose registrations they share. Owned by its {@link
 * org.jrdma.verbs.ProtectionDomain}; safe for use by several threads. Closing it first deregisters,
 * then frees; segments are then inaccessible. Where the system refuses to deregister, the memory is
 * never freed, since the adapter might still write to it. Close waits up to ten seconds for another
 * thread's input or output that is using a segment; memory that is in use longer is never freed
 * either.
 */
public final class RegisteredArena extends NativeObject implements Arena {

    /** How the memory of an arena is mapped. */
    public enum PageSize {
        /** The machine's normal pages. */
        NORMAL,
        /**
         * The machine's default huge pages, which must have been reserved: fewer entries in the
         * adapter's tables.
         */
        HUGE
    }

    private static final long CHUNK_BYTES = 1 << 20;
    private static final long PAGE_BYTES = Linux.pageBytes();

    private final DomainHandle domain;
    private final PageSize pages;
    private final Set<Access> access;
    private final Memory memory;

    /** By address, the regions that pieces are allocated from. */
    private final TreeMap<Long, MemoryRegion> chunks = new TreeMap<>();

    private @Nullable MemoryRegion chunk;
    private long used;

    /** Closed with the arena, so that nobody who drops one has forgotten anything. */
    private final ArrayList<MemoryRegion> regions = new ArrayList<>();

    /** How many regions there are when those closed are looked for. */
    private int many = 16;

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
        domain.lifetime().hold();
        try {
            return new Lifetime(
                    "arena %s on %s".formatted(Access.describe(access), domain.device().name()),
                    List.of(domain.lifetime()),
                    memory::free);
        } finally {
            domain.lifetime().release();
        }
    }

    /**
     * Memory with a registration of its own: page aligned, zeroed, of any length. In C: {@code
     * ibv_reg_mr}; with an optional right, {@code ibv_reg_mr_iova2}.
     *
     * @throws VerbsException if the system refuses; the message says how much memory may be locked
     */
    public MemoryRegion region(long bytes) throws VerbsException {
        lifetime().hold();
        try {
            var segment = map(bytes);
            return register(segment, Registration.start(segment, access));
        } finally {
            lifetime().release();
        }
    }

    /**
     * As {@link #region}, but work requests and peers name its first byte by an address of the
     * caller's choice: the same in every process of an application, say. In C: {@code
     * ibv_reg_mr_iova}.
     *
     * @param start a multiple of the page size, as the kernel demands
     * @throws VerbsException if the system refuses, or the library is too old
     */
    public MemoryRegion regionAt(long start, long bytes) throws VerbsException {
        lifetime().hold();
        try {
            var segment = map(bytes);
            return register(segment, start);
        } finally {
            lifetime().release();
        }
    }

    private MemoryRegion register(MemorySegment segment, long start) throws VerbsException {
        return keep(
                new MemoryRegion(
                        Registration.ofArena(
                                domain, segment, start, access, lifetime(), this, memory)));
    }

    private synchronized MemoryRegion keep(MemoryRegion region) {
        if (regions.size() >= many) {
            regions.removeIf(kept -> !kept.isOpen());
            many = Math.max(16, 2 * regions.size());
        }
        regions.add(region);
        return region;
    }

    private MemorySegment map(long bytes) throws VerbsException {
        if (bytes <= 0) {
            throw new IllegalArgumentException("A region has at least one byte: " + bytes);
        }
        return memory.map(bytes, pages);
    }

    /**
     * Memory that shares a registration with other pieces; {@link #slice(MemorySegment)} tells a
     * work request where it is. Zeroed.
     *
     * @throws IllegalStateException if the memory cannot be registered; the cause is a {@link
     *     VerbsException}
     */
    @Override
    public synchronized MemorySegment allocate(long byteSize, long byteAlignment) {
        if (byteSize < 0 || Long.bitCount(byteAlignment) != 1) {
            throw new IllegalArgumentException(
                    "size %d, alignment %d".formatted(byteSize, byteAlignment));
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
     * A segment that {@link #allocate} gave, or a part of one, for a work request.
     *
     * @throws IllegalArgumentException if it is not this arena's
     */
    public synchronized MemorySlice slice(MemorySegment segment) {
        var found = chunks.floorEntry(segment.address());
        if (found == null || !segment.isNative()) {
            throw new IllegalArgumentException("Not allocated from " + this);
        }
        var region = found.getValue();
        var offset = segment.address() - found.getKey();
        if (offset + segment.byteSize() > region.length()) {
            throw new IllegalArgumentException("Not allocated from " + this);
        }
        return region.slice(offset, segment.byteSize());
    }

    /** The scope of all its segments; alive until close. */
    @Override
    public MemorySegment.Scope scope() {
        return memory.arena.scope();
    }

    private static long alignUp(long value, long alignment) {
        return (value + alignment - 1) & -alignment;
    }

    /**
     * The memory below the registrations, which outlives them. Apart from the arena, so that a
     * forgotten arena is found.
     */
    private static final class Memory {

        final Arena arena = Arena.ofShared();

        MemorySegment map(long bytes, PageSize pages) throws VerbsException {
            try {
                return pages == PageSize.HUGE
                        ? Linux.mapHugePages(bytes, arena)
                        : Linux.mapPages(bytes, arena);
            } catch (FabricException e) {
                var advice =
                        pages == PageSize.HUGE
                                ? ". Reserve huge pages with \"sysctl vm.nr_hugepages=N\"; /proc/meminfo tells how many are free."
                                : ".";
                throw new VerbsException("mmap", e.getMessage() + advice);
            }
        }

        void free() throws FabricException {
            if (!Registration.isNeverFreed(this)) {
                SharedMemory.close(arena);
            }
        }
    }
}
