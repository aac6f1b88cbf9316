package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.abi.sisci.sci_dma_capabilities_t;
import org.jrdma.abi.sisci.sci_query_adapter_t;
import org.jrdma.abi.sisci.sci_query_dma_t;
import org.jrdma.abi.sisci.sci_query_local_segment_t;
import org.jrdma.abi.sisci.sci_query_map_t;
import org.jrdma.abi.sisci.sci_query_remote_segment_t;
import org.jrdma.abi.sisci.sci_query_string_t;
import org.jrdma.abi.sisci.sci_query_system_t;
import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.soft.sisci.fabric.DmaChannel;
import org.jrdma.soft.sisci.fabric.DmaQueue;
import org.jrdma.soft.sisci.fabric.FabricProcess;
import org.jrdma.soft.sisci.fabric.FlagChecks;
import org.jrdma.soft.sisci.fabric.LocalSegment;
import org.jrdma.soft.sisci.fabric.RemoteSegment;
import org.jrdma.soft.sisci.fabric.SciDescriptor;
import org.jrdma.soft.sisci.fabric.SciException;
import org.jrdma.soft.sisci.fabric.SegmentMap;

/** The functions for nodes, adapters, PCIe requesters and queries. */
final class NodeExports extends AbstractExports {

    private static final String NODE_NAME = "node";
    private static final int ADAPTER_TYPE = 0x50F7;
    private static final int CACHE_LINE_BYTES = 64;
    private static final int LINK_WIDTH = 16;
    private static final int LINK_SPEED = 4;
    private static final int DMA_ALIGNMENT = 1;

    private final Set<Requester> requesters = ConcurrentHashMap.newKeySet();
    private final long started = System.nanoTime();

    private record Requester(long descriptor, int adapter, int bus, int deviceFunction) {}

    NodeExports(SoftSisciLibrary library) {
        super(library);
    }

    @Exported("SCIProbeNode")
    int probe(long descriptor, int adapter, int node, int flags) {
        FlagChecks.checkNone(flags);
        var _ = handles.object(descriptor, SciDescriptor.class);
        return library.process().probe(node, adapter) ? 1 : 0;
    }

    @Exported("SCIGetLocalNodeId")
    void localNode(int adapter, long node, int flags) {
        FlagChecks.checkNone(flags);
        var process = library.process();
        process.checkAdapter(adapter);
        ProgramMemory.setInteger(node, process.node());
    }

    /**
     * Finds the id of a node by its name. The names are node4, node8 and so on, and localhost for
     * the node of this process.
     */
    @Exported("SCIGetNodeIdByAdapterName")
    void nodeByName(long name, long nodes, long type, int flags) {
        FlagChecks.checkNone(flags);
        var process = library.process();
        ProgramMemory.at(name, 1);
        var nodeName = Downcalls.textAt(MemorySegment.ofAddress(name));
        var nodeId =
                nodeName.equals("localhost")
                        ? process.node()
                        : process.nodes().stream()
                                .filter(node -> nodeName.equals(NODE_NAME + node))
                                .findFirst()
                                .orElseThrow(() -> new SciException(SCI_ERR_NO_SUCH_NODEID()));
        var list = ProgramMemory.at(nodes, 2 * Integer.BYTES);
        list.setAtIndex(JAVA_INT, 0, nodeId);
        list.setAtIndex(JAVA_INT, 1, 0);
        ProgramMemory.setIfNotNull(type, ADAPTER_TYPE);
    }

    @Exported("SCIGetNodeInfoByAdapterName")
    void nodeInfoByName(long name, long adapter, long nodes, long type, int flags) {
        nodeByName(name, nodes, type, flags);
        ProgramMemory.setIfNotNull(adapter, 0);
    }

    /**
     * Registers a PCIe requester. The software fabric has no PCIe bus. It only stores the
     * requester, to check that a later call unregisters a registered requester.
     */
    @Exported("SCIRegisterPCIeRequester")
    void register(long descriptor, int adapter, int bus, int deviceFunction, int flags) {
        FlagChecks.checkAllowed(flags, SCI_FLAG_PCIE_REQUESTER_GLOBAL());
        var _ = handles.object(descriptor, SciDescriptor.class);
        library.process().checkAdapter(adapter);
        requesters.add(new Requester(descriptor, adapter, bus, deviceFunction));
    }

    @Exported("SCIUnregisterPCIeRequester")
    void unregister(long descriptor, int adapter, int bus, int deviceFunction, int flags) {
        FlagChecks.checkAllowed(flags, SCI_FLAG_PCIE_REQUESTER_GLOBAL());
        var requester = new Requester(descriptor, adapter, bus, deviceFunction);
        throwIf(!requesters.remove(requester), SCI_ERR_ILLEGAL_OPERATION());
    }

    @Exported("SCIQuery")
    void query(int command, long data, int flags) {
        var process = library.process();
        switch (QueryCommandNumbers.of(command)) {
            case SCI_Q_VENDORID -> setText(data, "jrdma");
            case SCI_Q_API -> setText(data, "2, in software");
            case SCI_Q_ADAPTER ->
                    queryAdapter(
                            process,
                            ProgramMemory.at(data, sci_query_adapter_t.layout().byteSize()));
            case SCI_Q_SYSTEM ->
                    querySystem(ProgramMemory.at(data, sci_query_system_t.layout().byteSize()));
            case SCI_Q_DMA ->
                    queryDma(
                            process,
                            ProgramMemory.at(data, sci_query_dma_t.layout().byteSize()),
                            flags);
            case SCI_Q_LOCAL_SEGMENT ->
                    queryLocal(
                            ProgramMemory.at(data, sci_query_local_segment_t.layout().byteSize()));
            case SCI_Q_REMOTE_SEGMENT ->
                    queryRemote(
                            ProgramMemory.at(data, sci_query_remote_segment_t.layout().byteSize()));
            case SCI_Q_MAP -> queryMap(ProgramMemory.at(data, sci_query_map_t.layout().byteSize()));
            default -> throw illegalQuery();
        }
    }

    private static SciException illegalQuery() {
        return new SciException(SCI_ERR_ILLEGAL_QUERY());
    }

    private static void setText(long data, String text) {
        var query = ProgramMemory.at(data, sci_query_string_t.layout().byteSize());
        var bytes = (text + "\0").getBytes(UTF_8);
        var capacity = Integer.toUnsignedLong(sci_query_string_t.length(query));
        throwIf(capacity < bytes.length, SCI_ERR_OUT_OF_RANGE());
        MemorySegment.copy(
                bytes,
                0,
                ProgramMemory.at(sci_query_string_t.str(query).address(), bytes.length),
                ValueLayout.JAVA_BYTE,
                0,
                bytes.length);
    }

    private void queryAdapter(FabricProcess process, MemorySegment query) {
        var adapter = sci_query_adapter_t.localAdapterNo(query);
        process.checkAdapter(adapter);
        var up = process.isLinkOperational(adapter) ? 1 : 0;
        var seconds = (int) ((System.nanoTime() - started) / 1_000_000_000);
        var value =
                switch (QueryCommandNumbers.of(sci_query_adapter_t.subcommand(query))) {
                    case SCI_Q_ADAPTER_SERIAL_NUMBER -> process.node();
                    case SCI_Q_ADAPTER_CARD_TYPE -> ADAPTER_TYPE;
                    case SCI_Q_ADAPTER_NODEID -> process.node();
                    case SCI_Q_ADAPTER_CONFIGURED -> 1;
                    case SCI_Q_ADAPTER_DMA_MTU -> Integer.MAX_VALUE;
                    case SCI_Q_ADAPTER_MCAST_MAX_GROUPS -> FabricProcess.MAX_GROUPS;
                    case SCI_Q_ADAPTER_BDF -> adapter << 8;
                    case SCI_Q_ADAPTER_NUMBER_OF_LINKS -> 1;
                    case SCI_Q_ADAPTER_LINK_OPERATIONAL, SCI_Q_ADAPTER_LINK_CABLE_INSERTED -> up;
                    case SCI_Q_ADAPTER_LINK_ENABLED -> 1;
                    case SCI_Q_ADAPTER_LINK_WIDTH -> LINK_WIDTH;
                    case SCI_Q_ADAPTER_LINK_SPEED -> LINK_SPEED;
                    case SCI_Q_ADAPTER_LINK_UPTIME -> up * seconds;
                    case SCI_Q_ADAPTER_LINK_DOWNTIME -> (1 - up) * seconds;
                    case SCI_Q_ADAPTER_LINK_PARTNER_PORT_NO -> 0;
                    default -> throw illegalQuery();
                };
        ProgramMemory.setInteger(sci_query_adapter_t.data(query).address(), value);
    }

    private static void querySystem(MemorySegment query) {
        throwIf(
                QueryCommandNumbers.of(sci_query_system_t.subcommand(query))
                        != sisci_query.SCI_Q_SYSTEM_CPU_CACHE_LINE_SIZE,
                SCI_ERR_ILLEGAL_QUERY());
        ProgramMemory.setInteger(sci_query_system_t.data(query).address(), CACHE_LINE_BYTES);
    }

    private static void queryDma(FabricProcess process, MemorySegment query, int flags) {
        process.checkAdapter(sci_query_dma_t.localAdapterNo(query));
        DmaQueue.checkEngine(flags);
        var data = sci_query_dma_t.data(query).address();
        switch (QueryCommandNumbers.of(sci_query_dma_t.subcommand(query))) {
            case SCI_Q_DMA_AVAILABLE -> ProgramMemory.setInteger(data, 1);
            case SCI_Q_DMA_CAPABILITIES -> {
                var capabilities =
                        ProgramMemory.at(data, sci_dma_capabilities_t.layout().byteSize());
                sci_dma_capabilities_t.num_channels(capabilities, DmaChannel.NUMBER);
                sci_dma_capabilities_t.max_transfer_size(capabilities, Integer.MAX_VALUE);
                sci_dma_capabilities_t.max_vector_length(capabilities, DmaQueue.MAX_PIECES);
                sci_dma_capabilities_t.support_mem2io(capabilities, 1);
                sci_dma_capabilities_t.support_io2mem(capabilities, 1);
                sci_dma_capabilities_t.support_io2io(capabilities, 0);
                sci_dma_capabilities_t.min_align_bytes(capabilities, DMA_ALIGNMENT);
                sci_dma_capabilities_t.suggested_align_bytes(capabilities, CACHE_LINE_BYTES);
            }
            default -> throw illegalQuery();
        }
    }

    private void queryLocal(MemorySegment query) {
        var segment =
                handles.object(
                        sci_query_local_segment_t.segment(query).address(), LocalSegment.class);
        switch (QueryCommandNumbers.of(sci_query_local_segment_t.subcommand(query))) {
            case SCI_Q_LOCAL_SEGMENT_IOADDR,
                    SCI_Q_LOCAL_SEGMENT_PHYS_ADDR,
                    SCI_Q_LOCAL_SEGMENT_VIRTUAL_KERNEL_ADDR -> {
                var address = segment.hold();
                segment.release();
                sci_query_local_segment_t.data.ioaddr(
                        sci_query_local_segment_t.data(query), address);
            }
            default -> throw illegalQuery();
        }
    }

    private void queryRemote(MemorySegment query) {
        var segment =
                handles.object(
                        sci_query_remote_segment_t.segment(query).address(), RemoteSegment.class);
        throwIf(
                QueryCommandNumbers.of(sci_query_remote_segment_t.subcommand(query))
                        != sisci_query.SCI_Q_REMOTE_SEGMENT_IOADDR,
                SCI_ERR_ILLEGAL_QUERY());
        sci_query_remote_segment_t.data.ioaddr(
                sci_query_remote_segment_t.data(query), segment.address());
    }

    private void queryMap(MemorySegment query) {
        var map = handles.object(sci_query_map_t.map(query).address(), SegmentMap.class);
        sci_query_map_t.data(
                query,
                switch (QueryCommandNumbers.of(sci_query_map_t.subcommand(query))) {
                    case SCI_Q_MAP_MAPPED_TO_LOCAL_TARGET -> map.isLocal() ? 1 : 0;
                    case SCI_Q_MAP_IOADDR, SCI_Q_MAP_PHYS_ADDR -> map.address();
                    default -> throw illegalQuery();
                });
    }
}
