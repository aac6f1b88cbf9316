package org.jrdma.sisci;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Locale;
import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.linkage.ArenaCloser;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.QueryStructure;
import org.jrdma.sisci.internal.RemovalRetry;
import org.jrdma.sisci.internal.SisciConstant;
import org.jrdma.sisci.model.SisciException;

/**
 * A segment, or a part of it, mapped into the memory of this process.
 *
 * <p>The methods of this class access single values, at byte offsets that are multiples of the
 * value's size. The compiler never omits a load, so memory that a peer stores into can be polled.
 * If the map is {@linkplain MapOptions.Flag#UNCACHED uncached}, the compiler does not omit, merge
 * or reorder stores either, as registers of a device require. Use {@link #segment()} for bulk
 * access.
 *
 * <p>Owned by its segment; safe for use by multiple threads. Closing a map makes its memory
 * inaccessible and then unmaps it. In C: {@code sci_map_t}; {@link #close()} is {@code
 * SCIUnmapSegment}.
 */
public abstract sealed class SegmentMap extends SisciObject permits LocalMap, RemoteMap {

    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    private static final VarHandle SHORT = ValueLayout.JAVA_SHORT.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment segment;
    private final boolean registers;

    SegmentMap(Mapping mapping) {
        super(mapping.handle);
        this.segment = mapping.memory;
        this.registers = mapping.registers;
    }

    /**
     * The handle and the memory of a map before its API object is created.
     *
     * @param handle the handle of the map
     * @param memory the mapped memory
     * @param registers true if the compiler must not omit, merge or reorder stores
     */
    record Mapping(ObjectHandle handle, MemorySegment memory, boolean registers) {

        /**
         * Maps a segment. The caller must {@linkplain Lifetime#hold hold} the lifetime of the
         * segment.
         */
        static Mapping of(
                boolean remote, ObjectHandle segment, long segmentBytes, MapOptions options)
                throws SisciException {
            var library = segment.node().functions().library();
            var segments = segment.node().functions().segments();
            var bytes = options.bytesOf(segmentBytes);
            var mapped =
                    segments.map(
                            remote,
                            segment.address(),
                            options.offset(),
                            bytes,
                            library.bits(options.constants()),
                            segment.lifetime());
            var name =
                    String.format(Locale.ROOT, "map of %,d bytes of %s", bytes, segment.lifetime());
            var arena = Arena.ofShared();
            var memory = Downcalls.memoryAt(mapped.memory(), bytes, arena);
            var retry = new RemovalRetry(segment.node().deferred());
            var lifetime =
                    new Lifetime(
                            name,
                            List.of(segment.lifetime()),
                            () -> {
                                ArenaCloser.close(arena);
                                retry.remove(() -> segments.unmap(mapped.handle(), name));
                            });
            return new Mapping(
                    new ObjectHandle(segment.node(), mapped.handle(), lifetime, retry),
                    options.has(MapOptions.Flag.READ_ONLY) ? memory.asReadOnly() : memory,
                    options.has(MapOptions.Flag.UNCACHED));
        }
    }

    /**
     * Returns the mapped memory. It is bounded by the size of this map, and accessible until the
     * map is closed.
     */
    public final MemorySegment segment() {
        return segment;
    }

    /** Returns the size of this map in bytes. */
    public final long byteSize() {
        return segment.byteSize();
    }

    /** Loads a byte. */
    public final byte getByte(long offset) {
        return (byte) BYTE.getOpaque(segment, offset);
    }

    /** Loads a {@code short}. */
    public final short getShort(long offset) {
        return (short) SHORT.getOpaque(segment, offset);
    }

    /** Loads an {@code int}. */
    public final int getInt(long offset) {
        return (int) INT.getOpaque(segment, offset);
    }

    /** Loads a {@code long}. */
    public final long getLong(long offset) {
        return (long) LONG.getOpaque(segment, offset);
    }

    /** Loads an {@code int} with acquire semantics: later loads are not executed before it. */
    public final int getIntAcquire(long offset) {
        return (int) INT.getAcquire(segment, offset);
    }

    /** Loads a {@code long} with acquire semantics: later loads are not executed before it. */
    public final long getLongAcquire(long offset) {
        return (long) LONG.getAcquire(segment, offset);
    }

    /** Stores a byte. */
    public final void putByte(long offset, byte value) {
        if (registers) {
            BYTE.setOpaque(segment, offset, value);
        } else {
            BYTE.set(segment, offset, value);
        }
    }

    /** Stores a {@code short}. */
    public final void putShort(long offset, short value) {
        if (registers) {
            SHORT.setOpaque(segment, offset, value);
        } else {
            SHORT.set(segment, offset, value);
        }
    }

    /** Stores an {@code int}. */
    public final void putInt(long offset, int value) {
        if (registers) {
            INT.setOpaque(segment, offset, value);
        } else {
            INT.set(segment, offset, value);
        }
    }

    /** Stores a {@code long}. */
    public final void putLong(long offset, long value) {
        if (registers) {
            LONG.setOpaque(segment, offset, value);
        } else {
            LONG.set(segment, offset, value);
        }
    }

    /** Stores an {@code int} with release semantics: after all earlier stores of this thread. */
    public void putIntRelease(long offset, int value) {
        INT.setRelease(segment, offset, value);
    }

    /** Stores a {@code long} with release semantics: after all earlier stores of this thread. */
    public void putLongRelease(long offset, long value) {
        LONG.setRelease(segment, offset, value);
    }

    /**
     * Returns true if this map accesses memory of this node directly, without the adapter. In C:
     * {@code SCI_Q_MAP_MAPPED_TO_LOCAL_TARGET}.
     */
    public final boolean isLocal() throws SisciException {
        return query(sisci_query.SCI_Q_MAP_MAPPED_TO_LOCAL_TARGET) != 0;
    }

    /** Returns the address of this map on the I/O bus. In C: {@code SCI_Q_MAP_IOADDR}. */
    public final long ioAddress() throws SisciException {
        return query(sisci_query.SCI_Q_MAP_IOADDR);
    }

    /**
     * Returns the address of this map in the physical memory of this machine. In C: {@code
     * SCIGetMapPhysAddr}.
     */
    public final long physicalAddress() {
        return inCall(() -> functions().segments().physicalAddress(address()));
    }

    /**
     * Writes the cached data of a range back to memory. This is necessary on machines whose adapter
     * does not access memory coherently with the CPU's caches. In C: {@code SCICacheSync} with
     * {@code SCI_FLAG_CACHE_FLUSH}.
     */
    public final void flushCache(long offset, long bytes) throws SisciException {
        syncCache(offset, bytes, SisciConstant.SCI_FLAG_CACHE_FLUSH);
    }

    /**
     * Invalidates the cached data of a range, so that the next load reads from memory. This is
     * necessary on the same machines as {@link #flushCache}. In C: {@code SCICacheSync} with {@code
     * SCI_FLAG_CACHE_INVALIDATE}.
     */
    public final void invalidateCache(long offset, long bytes) throws SisciException {
        syncCache(offset, bytes, SisciConstant.SCI_FLAG_CACHE_INVALIDATE);
    }

    private void syncCache(long offset, long bytes, SisciConstant flag) throws SisciException {
        var part = segment.asSlice(offset, bytes);
        var flags = functions().library().number(flag);
        whileOpen(() -> functions().segments().syncCache(address(), part, flags, this));
    }

    private long query(sisci_query subcommand) throws SisciException {
        return inCall(() ->
                functions()
                        .nodes()
                        .query(
                                sisci_query.SCI_Q_MAP,
                                subcommand,
                                address(),
                                QueryStructure.MAP,
                                this));
    }
}
