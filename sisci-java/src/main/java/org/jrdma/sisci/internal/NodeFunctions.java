package org.jrdma.sisci.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.abi.sisci.sci_dma_capabilities_t;
import org.jrdma.abi.sisci.sci_query_adapter_t;
import org.jrdma.abi.sisci.sci_query_dma_t;
import org.jrdma.abi.sisci.sci_query_string_t;
import org.jrdma.abi.sisci.sci_query_system_t;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.sisci.model.DmaCapabilities;
import org.jrdma.sisci.model.NodeInfo;
import org.jrdma.sisci.model.SisciException;

/**
 * Calls the functions of libsisci for its initialization, and for descriptors, nodes, adapters,
 * queries and PCIe requesters.
 */
public final class NodeFunctions {

    private static final MethodHandle INITIALIZE =
            capturingErrno(sisci_h.SCIInitialize$descriptor());
    private static final MethodHandle TERMINATE =
            Downcalls.plain(sisci_h.SCITerminate$descriptor());
    private static final MethodHandle OPEN = capturingErrno(sisci_h.SCIOpen$descriptor());
    private static final MethodHandle PROBE_NODE =
            capturingErrno(sisci_h.SCIProbeNode$descriptor());
    private static final MethodHandle GET_LOCAL_NODE_ID =
            capturingErrno(sisci_h.SCIGetLocalNodeId$descriptor());
    private static final MethodHandle GET_NODE_ID_BY_ADAPTER_NAME =
            capturingErrno(sisci_h.SCIGetNodeIdByAdapterName$descriptor());
    private static final MethodHandle GET_NODE_INFO_BY_ADAPTER_NAME =
            capturingErrno(sisci_h.SCIGetNodeInfoByAdapterName$descriptor());
    private static final MethodHandle GET_ADAPTER_TYPE_STRING =
            Downcalls.plain(sisci_h.SCIGetAdapterTypeString$descriptor());
    private static final MethodHandle QUERY = capturingErrno(sisci_h.SCIQuery$descriptor());
    private static final MethodHandle GET_CSR_REGISTER =
            capturingErrno(sisci_h.SCIGetCSRRegister$descriptor());
    private static final MethodHandle SET_CSR_REGISTER =
            capturingErrno(sisci_h.SCISetCSRRegister$descriptor());
    private static final MethodHandle GET_LOCAL_CSR =
            capturingErrno(sisci_h.SCIGetLocalCSR$descriptor());
    private static final MethodHandle SET_LOCAL_CSR =
            capturingErrno(sisci_h.SCISetLocalCSR$descriptor());
    private static final MethodHandle REGISTER_REQUESTER =
            capturingErrno(sisci_h.SCIRegisterPCIeRequester$descriptor());
    private static final MethodHandle UNREGISTER_REQUESTER =
            capturingErrno(sisci_h.SCIUnregisterPCIeRequester$descriptor());

    /**
     * The maximum number of node ids that {@code SCIGetNodeIdByAdapterName} can return here. The
     * library's limit is not documented.
     */
    private static final int NODE_LIST = 4_096;

    private static final int TEXT_BYTES = 1_024;

    private final SisciLibrary library;

    public NodeFunctions(SisciLibrary library) {
        this.library = library;
    }

    /**
     * Initializes the library. Must be called before all other functions. In C: {@code
     * SCIInitialize}.
     */
    public void initialize() throws SisciException {
        library.run(
                "SCIInitialize",
                "",
                (function, _, error) -> {
                    INITIALIZE.invokeExact(function, segment(), 0, error);
                });
    }

    /**
     * Terminates the library. No other function may be called afterwards. The C function, {@code
     * SCITerminate}, does not report errors.
     */
    public void terminate() {
        library.find("SCITerminate")
                .ifPresent(function ->
                        Downcalls.run(() -> {
                            TERMINATE.invokeExact(function);
                        }));
    }

    public MemorySegment open() throws SisciException {
        return library.call(
                "SCIOpen",
                "",
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    OPEN.invokeExact(function, segment(), handle, 0, error);
                    return handle.get(ADDRESS, 0);
                });
    }

    /** Closes a node. Fails with BUSY while objects of the node exist. */
    public void close(MemorySegment node, Object subject) throws SisciException {
        library.run("SCIClose", node, 0, subject);
    }

    /**
     * Returns true if a node responds. If it does not respond, the library returns false or reports
     * an error.
     */
    public boolean probe(MemorySegment node, int adapter, int peer, Object subject)
            throws SisciException {
        return library.call(
                "SCIProbeNode",
                subject,
                (function, _, error) ->
                        (int)
                                        PROBE_NODE.invokeExact(
                                                function, segment(), node, adapter, peer, 0, error)
                                != 0);
    }

    public int localNodeId(int adapter, Object subject) throws SisciException {
        return library.call(
                "SCIGetLocalNodeId",
                subject,
                (function, arena, error) -> {
                    var id = arena.allocate(JAVA_INT);
                    GET_LOCAL_NODE_ID.invokeExact(function, segment(), adapter, id, 0, error);
                    return id.get(JAVA_INT, 0);
                });
    }

    public List<Integer> nodeIds(String name, Object subject) throws SisciException {
        return library.call(
                "SCIGetNodeIdByAdapterName",
                subject,
                (function, arena, error) -> {
                    var ids = arena.allocate(JAVA_INT, NODE_LIST);
                    var type = arena.allocate(JAVA_INT);
                    GET_NODE_ID_BY_ADAPTER_NAME.invokeExact(
                            function, segment(), arena.allocateFrom(name), ids, type, 0, error);
                    return list(ids);
                });
    }

    public NodeInfo nodeInfo(String name, Object subject) throws SisciException {
        return library.call(
                "SCIGetNodeInfoByAdapterName",
                subject,
                (function, arena, error) -> {
                    var adapter = arena.allocate(JAVA_INT);
                    var ids = arena.allocate(JAVA_INT, NODE_LIST);
                    var type = arena.allocate(JAVA_INT);
                    GET_NODE_INFO_BY_ADAPTER_NAME.invokeExact(
                            function,
                            segment(),
                            arena.allocateFrom(name),
                            adapter,
                            ids,
                            type,
                            0,
                            error);
                    var number = type.get(JAVA_INT, 0);
                    return new NodeInfo(
                            list(ids), adapter.get(JAVA_INT, 0), number, adapterTypeName(number));
                });
    }

    private static List<Integer> list(MemorySegment ids) {
        var list = new ArrayList<Integer>();
        for (var i = 0; i < NODE_LIST && ids.getAtIndex(JAVA_INT, i) != 0; i++) {
            list.add(ids.getAtIndex(JAVA_INT, i));
        }
        return List.copyOf(list);
    }

    private String adapterTypeName(int type) {
        return library.find("SCIGetAdapterTypeString")
                .map(function ->
                        Downcalls.call(() ->
                                (MemorySegment)
                                        GET_ADAPTER_TYPE_STRING.invokeExact(function, type)))
                .filter(text -> text.address() != 0)
                .map(Downcalls::textAt)
                .orElse("");
    }

    public String version() throws SisciException {
        return queryText(sisci_query.SCI_Q_API);
    }

    public String vendor() throws SisciException {
        return queryText(sisci_query.SCI_Q_VENDORID);
    }

    private String queryText(sisci_query command) throws SisciException {
        var number = library.number(command);
        return library.call(
                "SCIQuery",
                "" + command,
                (function, arena, error) -> {
                    var text = arena.allocate(TEXT_BYTES);
                    var query = sci_query_string_t.allocate(arena);
                    sci_query_string_t.str(query, text);
                    sci_query_string_t.length(query, TEXT_BYTES);
                    QUERY.invokeExact(function, segment(), number, query, 0, error);
                    return error.get(JAVA_INT, 0) == 0 ? text.getString(0) : "";
                });
    }

    public int queryAdapter(int adapter, int link, sisci_query what) throws SisciException {
        var command = library.number(sisci_query.SCI_Q_ADAPTER);
        var subcommand = library.number(what);
        return library.call(
                "SCIQuery",
                "%s of adapter %d".formatted(what, adapter),
                (function, arena, error) -> {
                    var data = arena.allocate(JAVA_INT);
                    var query = sci_query_adapter_t.allocate(arena);
                    sci_query_adapter_t.localAdapterNo(query, adapter);
                    sci_query_adapter_t.portNo(query, link);
                    sci_query_adapter_t.subcommand(query, subcommand);
                    sci_query_adapter_t.data(query, data);
                    QUERY.invokeExact(function, segment(), command, query, 0, error);
                    return data.get(JAVA_INT, 0);
                });
    }

    public int cacheLineBytes() throws SisciException {
        var command = library.number(sisci_query.SCI_Q_SYSTEM);
        var subcommand = library.number(sisci_query.SCI_Q_SYSTEM_CPU_CACHE_LINE_SIZE);
        return library.call(
                "SCIQuery",
                "the cache line",
                (function, arena, error) -> {
                    var data = arena.allocate(JAVA_INT);
                    var query = sci_query_system_t.allocate(arena);
                    sci_query_system_t.subcommand(query, subcommand);
                    sci_query_system_t.data(query, data);
                    QUERY.invokeExact(function, segment(), command, query, 0, error);
                    return data.get(JAVA_INT, 0);
                });
    }

    public boolean isDmaAvailable(int adapter, int engine) throws SisciException {
        var command = library.number(sisci_query.SCI_Q_DMA);
        var subcommand = library.number(sisci_query.SCI_Q_DMA_AVAILABLE);
        return library.call(
                "SCIQuery",
                "a DMA engine of adapter " + adapter,
                (function, arena, error) -> {
                    var data = arena.allocate(JAVA_INT);
                    var query = sci_query_dma_t.allocate(arena);
                    sci_query_dma_t.localAdapterNo(query, adapter);
                    sci_query_dma_t.subcommand(query, subcommand);
                    sci_query_dma_t.data(query, data);
                    QUERY.invokeExact(function, segment(), command, query, engine, error);
                    return data.get(JAVA_INT, 0) != 0;
                });
    }

    public DmaCapabilities dmaCapabilities(int adapter, int engine) throws SisciException {
        var command = library.number(sisci_query.SCI_Q_DMA);
        var subcommand = library.number(sisci_query.SCI_Q_DMA_CAPABILITIES);
        return library.call(
                "SCIQuery",
                "the DMA capabilities of adapter " + adapter,
                (function, arena, error) -> {
                    var data = sci_dma_capabilities_t.allocate(arena);
                    var query = sci_query_dma_t.allocate(arena);
                    sci_query_dma_t.localAdapterNo(query, adapter);
                    sci_query_dma_t.subcommand(query, subcommand);
                    sci_query_dma_t.data(query, data);
                    QUERY.invokeExact(function, segment(), command, query, engine, error);
                    return new DmaCapabilities(
                            sci_dma_capabilities_t.num_channels(data),
                            Integer.toUnsignedLong(sci_dma_capabilities_t.max_transfer_size(data)),
                            sci_dma_capabilities_t.max_vector_length(data),
                            sci_dma_capabilities_t.support_mem2io(data) != 0,
                            sci_dma_capabilities_t.support_io2mem(data) != 0,
                            sci_dma_capabilities_t.support_io2io(data) != 0,
                            sci_dma_capabilities_t.min_align_bytes(data),
                            sci_dma_capabilities_t.suggested_align_bytes(data));
                });
    }

    /**
     * Queries a property of an object.
     *
     * @param structure the C structure for the query, which contains the handle and the result
     */
    public long query(
            sisci_query command,
            sisci_query what,
            MemorySegment handle,
            QueryStructure structure,
            Object subject)
            throws SisciException {
        var number = library.number(command);
        var subcommand = library.number(what);
        return library.call(
                "SCIQuery",
                "%s of %s".formatted(what, subject),
                (function, arena, error) -> {
                    var query = structure.allocate(arena, handle, subcommand);
                    QUERY.invokeExact(function, segment(), number, query, 0, error);
                    return structure.result(query);
                });
    }

    public int register(MemorySegment node, int adapter, int offset, Object subject)
            throws SisciException {
        return library.call(
                "SCIGetLocalCSR",
                subject,
                (function, _, error) ->
                        (int)
                                GET_LOCAL_CSR.invokeExact(
                                        function, segment(), node, adapter, offset, 0, error));
    }

    public void setRegister(MemorySegment node, int adapter, int offset, int value, Object subject)
            throws SisciException {
        library.run(
                "SCISetLocalCSR",
                subject,
                (function, _, error) -> {
                    SET_LOCAL_CSR.invokeExact(
                            function, segment(), node, adapter, offset, value, 0, error);
                });
    }

    public int remoteRegister(MemorySegment node, int adapter, int peer, int offset, Object subject)
            throws SisciException {
        return library.call(
                "SCIGetCSRRegister",
                subject,
                (function, _, error) ->
                        (int)
                                GET_CSR_REGISTER.invokeExact(
                                        function, segment(), node, adapter, peer, offset, 0,
                                        error));
    }

    public void setRemoteRegister(
            MemorySegment node, int adapter, int peer, int offset, int value, Object subject)
            throws SisciException {
        library.run(
                "SCISetCSRRegister",
                subject,
                (function, _, error) -> {
                    SET_CSR_REGISTER.invokeExact(
                            function, segment(), node, adapter, peer, offset, value, 0, error);
                });
    }

    /** Allows a device on this node's PCIe bus to access other nodes through the adapter. */
    public void registerRequester(
            MemorySegment node, int adapter, int bus, int deviceFunction, Object subject)
            throws SisciException {
        var flags = library.number(SisciConstant.SCI_FLAG_PCIE_REQUESTER_GLOBAL);
        library.run(
                "SCIRegisterPCIeRequester",
                subject,
                (function, _, error) -> {
                    REGISTER_REQUESTER.invokeExact(
                            function, segment(), node, adapter, bus, deviceFunction, flags, error);
                });
    }

    public void unregisterRequester(
            MemorySegment node, int adapter, int bus, int deviceFunction, Object subject)
            throws SisciException {
        var flags = library.number(SisciConstant.SCI_FLAG_PCIE_REQUESTER_GLOBAL);
        library.run(
                "SCIUnregisterPCIeRequester",
                subject,
                (function, _, error) -> {
                    UNREGISTER_REQUESTER.invokeExact(
                            function, segment(), node, adapter, bus, deviceFunction, flags, error);
                });
    }
}
