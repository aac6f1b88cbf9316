package org.jrdma.sisci.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.abi.sisci.sci_address_t;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.sisci.model.SisciException;

/** Calls the functions of libsisci for local segments, remote segments, maps and sequences. */
public final class SegmentFunctions {

    private static final MethodHandle CREATE_SEGMENT =
            capturingErrno(sisci_h.SCICreateSegment$descriptor());
    private static final MethodHandle ON_ADAPTER =
            capturingErrno(sisci_h.SCIPrepareSegment$descriptor());
    private static final MethodHandle LOCAL_SEGMENT_ID =
            Downcalls.plain(sisci_h.SCIGetLocalSegmentId$descriptor());
    private static final MethodHandle ATTACH_LOCAL_SEGMENT =
            capturingErrno(sisci_h.SCIAttachLocalSegment$descriptor());
    private static final MethodHandle REGISTER_MEMORY =
            capturingErrno(sisci_h.SCIRegisterSegmentMemory$descriptor());
    private static final MethodHandle ATTACH_PHYSICAL_MEMORY =
            capturingErrno(sisci_h.SCIAttachPhysicalMemory$descriptor());
    private static final MethodHandle CONNECT_SPACE =
            capturingErrno(sisci_h.SCIConnectSCISpace$descriptor());
    private static final MethodHandle CONNECT_SEGMENT =
            capturingErrno(sisci_h.SCIConnectSegment$descriptor());
    private static final MethodHandle REMOTE_SEGMENT_SIZE =
            Downcalls.plain(sisci_h.SCIGetRemoteSegmentSize$descriptor());
    private static final MethodHandle REMOTE_SEGMENT_NODE_ID =
            Downcalls.plain(sisci_h.SCIGetRemoteSegmentNodeId$descriptor());

    /**
     * The method handle for {@code SCIMapLocalSegment} and {@code SCIMapRemoteSegment}, which have
     * the same signature.
     */
    private static final MethodHandle MAP_SEGMENT =
            capturingErrno(sisci_h.SCIMapLocalSegment$descriptor());

    private static final MethodHandle MAP_PHYSICAL_ADDRESS =
            Downcalls.plain(sisci_h.SCIGetMapPhysAddr$descriptor());
    private static final MethodHandle CACHE_SYNC =
            capturingErrno(sisci_h.SCICacheSync$descriptor());
    private static final MethodHandle CREATE_SEQUENCE =
            capturingErrno(sisci_h.SCICreateMapSequence$descriptor());

    private final SisciLibrary library;

    public SegmentFunctions(SisciLibrary library) {
        this.library = library;
    }

    /**
     * Creates a segment.
     *
     * @param listener the key of a listener in {@link Callbacks}, or 0 for no listener
     */
    public MemorySegment create(
            MemorySegment node, int id, long bytes, long listener, int flags, Object subject)
            throws SisciException {
        return library.call(
                "SCICreateSegment",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    CREATE_SEGMENT.invokeExact(
                            function,
                            segment(),
                            node,
                            handle,
                            id,
                            bytes,
                            Callbacks.orNull(Callbacks.localSegment(), listener),
                            MemorySegment.ofAddress(listener),
                            flags | library.callbackFlag(listener),
                            error);
                    return handle.get(ADDRESS, 0);
                });
    }

    public record Attached(MemorySegment handle, long bytes) {}

    /** Attaches to a shared segment. The arguments are those of {@link #create}. */
    public Attached attach(MemorySegment node, int id, long listener, Object subject)
            throws SisciException {
        return library.call(
                "SCIAttachLocalSegment",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    var bytes = arena.allocate(JAVA_LONG);
                    ATTACH_LOCAL_SEGMENT.invokeExact(
                            function,
                            segment(),
                            node,
                            handle,
                            id,
                            bytes,
                            Callbacks.orNull(Callbacks.localSegment(), listener),
                            MemorySegment.ofAddress(listener),
                            library.callbackFlag(listener),
                            error);
                    return new Attached(handle.get(ADDRESS, 0), bytes.get(JAVA_LONG, 0));
                });
    }

    /**
     * Removes a segment. Fails with BUSY while the segment is mapped or peers are connected to it.
     */
    public void remove(MemorySegment segment, int flags, Object subject) throws SisciException {
        library.run("SCIRemoveSegment", segment, flags, subject);
    }

    public void prepare(MemorySegment segment, int adapter, int flags, Object subject)
            throws SisciException {
        onAdapter("SCIPrepareSegment", segment, adapter, flags, subject);
    }

    public void setAvailable(MemorySegment segment, int adapter, Object subject)
            throws SisciException {
        onAdapter("SCISetSegmentAvailable", segment, adapter, 0, subject);
    }

    /** Makes a segment unavailable to further peers. The function may fail with BUSY. */
    public void setUnavailable(MemorySegment segment, int adapter, int flags, Object subject)
            throws SisciException {
        onAdapter("SCISetSegmentUnavailable", segment, adapter, flags, subject);
    }

    private void onAdapter(
            String name, MemorySegment segment, int adapter, int flags, Object subject)
            throws SisciException {
        library.run(
                name,
                subject,
                (function, _, error) -> {
                    ON_ADAPTER.invokeExact(function, segment(), segment, adapter, flags, error);
                });
    }

    /** Returns the id of a segment, which the library may have chosen. */
    public int id(MemorySegment segment) {
        var function = library.require("SCIGetLocalSegmentId");
        return Downcalls.call(() -> (int) LOCAL_SEGMENT_ID.invokeExact(function, segment));
    }

    public void share(MemorySegment segment, Object subject) throws SisciException {
        library.run("SCIShareSegment", segment, 0, subject);
    }

    /** Registers memory of this process with an empty segment. The library locks the memory. */
    public void register(MemorySegment segment, MemorySegment memory, Object subject)
            throws SisciException {
        var flags = library.number(SisciConstant.SCI_FLAG_LOCK_USER_MEM);
        library.run(
                "SCIRegisterSegmentMemory",
                subject,
                (function, _, error) -> {
                    REGISTER_MEMORY.invokeExact(
                            function, segment(), memory, memory.byteSize(), segment, flags, error);
                });
    }

    /** Attaches memory outside this process to an empty segment. */
    public void attachPhysical(
            MemorySegment segment,
            long ioAddress,
            long address,
            long bytes,
            int flags,
            Object subject)
            throws SisciException {
        library.run(
                "SCIAttachPhysicalMemory",
                subject,
                (function, _, error) -> {
                    ATTACH_PHYSICAL_MEMORY.invokeExact(
                            function,
                            segment(),
                            ioAddress,
                            MemorySegment.ofAddress(address),
                            0,
                            bytes,
                            segment,
                            flags,
                            error);
                });
    }

    /**
     * Connects to a segment of a node without waiting, because no release of the library implements
     * the timeout.
     *
     * @param listener the key of a listener in {@link Callbacks}
     */
    public MemorySegment connect(
            MemorySegment node,
            int peer,
            int id,
            int adapter,
            long listener,
            int flags,
            Object subject)
            throws SisciException {
        var timeout = library.number(SisciConstant.SCI_INFINITE_TIMEOUT);
        return library.call(
                "SCIConnectSegment",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    CONNECT_SEGMENT.invokeExact(
                            function,
                            segment(),
                            node,
                            handle,
                            peer,
                            id,
                            adapter,
                            Callbacks.orNull(Callbacks.remoteSegment(), listener),
                            MemorySegment.ofAddress(listener),
                            timeout,
                            flags | library.callbackFlag(listener),
                            error);
                    return handle.get(ADDRESS, 0);
                });
    }

    /**
     * Connects to memory of a node by its physical address. The caller is responsible for the
     * address.
     *
     * @param physical the physical address, which has 48 bits
     */
    public MemorySegment connectSpace(
            MemorySegment node, int peer, int adapter, long physical, long bytes, Object subject)
            throws SisciException {
        return library.call(
                "SCIConnectSCISpace",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    var sciAddress = sci_address_t.allocate(arena);
                    sci_address_t.nodeId(sciAddress, (short) peer);
                    sci_address_t.offsHi(sciAddress, (short) (physical >>> Integer.SIZE));
                    sci_address_t.offsLo(sciAddress, (int) physical);
                    CONNECT_SPACE.invokeExact(
                            function,
                            segment(),
                            node,
                            adapter,
                            handle,
                            sciAddress,
                            bytes,
                            0,
                            error);
                    return handle.get(ADDRESS, 0);
                });
    }

    /** Disconnects from a segment. Fails with BUSY while the segment is mapped. */
    public void disconnect(MemorySegment segment, Object subject) throws SisciException {
        library.run("SCIDisconnectSegment", segment, 0, subject);
    }

    public long remoteSize(MemorySegment segment) {
        var function = library.require("SCIGetRemoteSegmentSize");
        return Downcalls.call(() -> (long) REMOTE_SEGMENT_SIZE.invokeExact(function, segment));
    }

    public int remoteNodeId(MemorySegment segment) {
        var function = library.require("SCIGetRemoteSegmentNodeId");
        return Downcalls.call(() -> (int) REMOTE_SEGMENT_NODE_ID.invokeExact(function, segment));
    }

    /**
     * The handle of a new map and the address of its memory. The segment {@code memory} has the
     * size 0.
     */
    public record Mapped(MemorySegment handle, MemorySegment memory) {}

    public Mapped map(
            boolean remote,
            MemorySegment segment,
            long offset,
            long bytes,
            int flags,
            Object subject)
            throws SisciException {
        var name = remote ? "SCIMapRemoteSegment" : "SCIMapLocalSegment";
        return library.call(
                name,
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    var memory =
                            (MemorySegment)
                                    MAP_SEGMENT.invokeExact(
                                            function,
                                            segment(),
                                            segment,
                                            handle,
                                            offset,
                                            bytes,
                                            MemorySegment.NULL,
                                            flags,
                                            error);
                    if (memory.address() == 0 && error.get(JAVA_INT, 0) == 0) {
                        throw new IllegalStateException(
                                name + " returned neither an address nor an error");
                    }
                    return new Mapped(handle.get(ADDRESS, 0), memory);
                });
    }

    public long physicalAddress(MemorySegment map) {
        var function = library.require("SCIGetMapPhysAddr");
        return Downcalls.call(() -> (long) MAP_PHYSICAL_ADDRESS.invokeExact(function, map));
    }

    /** Flushes or invalidates the CPU's caches for a range of a map. */
    public void syncCache(MemorySegment map, MemorySegment memory, int flags, Object subject)
            throws SisciException {
        library.run(
                "SCICacheSync",
                subject,
                (function, _, error) -> {
                    CACHE_SYNC.invokeExact(
                            function, segment(), map, memory, memory.byteSize(), flags, error);
                });
    }

    /** Removes a map. Fails with BUSY while a sequence of the map exists. */
    public void unmap(MemorySegment map, Object subject) throws SisciException {
        library.run("SCIUnmapSegment", map, 0, subject);
    }

    public MemorySegment createSequence(MemorySegment map, int flags, Object subject)
            throws SisciException {
        return library.call(
                "SCICreateMapSequence",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    CREATE_SEQUENCE.invokeExact(function, segment(), map, handle, flags, error);
                    return handle.get(ADDRESS, 0);
                });
    }

    public void removeSequence(MemorySegment sequence, Object subject) throws SisciException {
        library.run("SCIRemoveSequence", sequence, 0, subject);
    }
}
