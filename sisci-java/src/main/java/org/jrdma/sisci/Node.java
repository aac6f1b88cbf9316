package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.internal.DeferredRemovals;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.RemovalRetry;
import org.jrdma.sisci.internal.SisciFunctions;
import org.jrdma.sisci.model.NodeInfo;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;

/**
 * This node of the fabric, as one of its adapters sees it: what everything else is made from, and
 * closed with.
 *
 * <p>Safe for use by several threads. In C: {@code sci_desc_t}; {@link #close()} is {@code
 * SCIClose}, and for the last node {@code SCITerminate}.
 */
public final class Node extends SisciObject {

    /** How many adapters a machine can have, as far as programs look for them. */
    private static final int ADAPTERS = 4;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(50);

    private Node(NodeHandle node, RemovalRetry retry) {
        super(new ObjectHandle(node, node.address(), node.lifetime(), retry));
    }

    /**
     * Opens a node.
     *
     * @param closed run once the node is closed, unless the library refuses to close it
     */
    static Node open(SisciFunctions functions, int adapter, Runnable closed) throws SisciException {
        var id = functions.nodes().localNodeId(adapter, "adapter " + adapter);
        var handle = functions.nodes().open();
        var deferred = new DeferredRemovals();
        var retry = new RemovalRetry(deferred);
        var name = "node " + id;
        var lifetime =
                new Lifetime(
                        name,
                        List.of(),
                        () -> {
                            deferred.run(retry.start());
                            retry.remove(() -> functions.nodes().close(handle, name));
                            closed.run();
                        });
        return new Node(new NodeHandle(functions, handle, adapter, id, lifetime, deferred), retry);
    }

    /** The id by which peers know this node. In C: {@code SCIGetLocalNodeId}. */
    public int id() {
        return node().id();
    }

    /** The adapter that it was opened by. */
    public Adapter adapter() {
        return new Adapter(node(), node().adapter(), node().id());
    }

    /** All adapters of this machine. In C: {@code SCIGetLocalNodeId}. */
    public List<Adapter> adapters() throws SisciException {
        var adapters = new ArrayList<Adapter>();
        for (var number = 0; number < ADAPTERS; number++) {
            try {
                adapters.add(adapter(number));
            } catch (SisciException e) {
                if (e.error() != SisciError.NO_SUCH_ADAPTER
                        && e.error() != SisciError.ILLEGAL_ADAPTER) {
                    throw e;
                }
            }
        }
        return List.copyOf(adapters);
    }

    /**
     * An adapter by its number. In C: {@code SCIGetLocalNodeId}.
     *
     * @throws SisciException if there is none
     */
    public Adapter adapter(int number) throws SisciException {
        return new Adapter(
                node(),
                number,
                inCall(() -> functions().nodes().localNodeId(number, "adapter " + number)));
    }

    /** Returns true if a node can be reached. In C: {@code SCIProbeNode}. */
    public boolean probe(int peer) throws SisciException {
        try {
            return inCall(() ->
                    functions().nodes().probe(address(), node().adapter(), peer, "node " + peer));
        } catch (SisciException e) {
            if (e.error().isTransient()) {
                return false;
            }
            throw e;
        }
    }

    /**
     * The ids of the node that the fabric's configuration, {@code dishosts.conf}, gives a name. In
     * C: {@code SCIGetNodeIdByAdapterName}.
     */
    public List<Integer> nodeIds(String name) throws SisciException {
        return inCall(() -> functions().nodes().nodeIds(name, "\"%s\"".formatted(name)));
    }

    /**
     * What the fabric's configuration says of the node that it gives a name. In C: {@code
     * SCIGetNodeInfoByAdapterName}, {@code SCIGetAdapterTypeString}.
     *
     * @throws SisciException if there is no such node
     * @throws UnsupportedOperationException if the library does not have the function
     */
    public NodeInfo nodeInfo(String name) throws SisciException {
        return inCall(() -> functions().nodes().nodeInfo(name, "\"%s\"".formatted(name)));
    }

    /** The size of a cache line of the CPU, in bytes. In C: {@code SCI_Q_SYSTEM}. */
    public int cacheLineBytes() throws SisciException {
        return inCall(() -> functions().nodes().cacheLineBytes());
    }

    /** Makes a segment, which peers cannot reach before it is offered. */
    public LocalSegment newSegment(int segment, long bytes) throws SisciException {
        return newSegment(SegmentOptions.of(segment, bytes));
    }

    /** Makes a segment. In C: {@code SCICreateSegment}. */
    public LocalSegment newSegment(SegmentOptions options) throws SisciException {
        return inCall(() -> LocalSegment.create(node(), options));
    }

    /**
     * Attaches to a segment that another process of this node has shared. In C: {@code
     * SCIAttachLocalSegment}.
     */
    public LocalSegment attach(int segment) throws SisciException {
        return inCall(() -> LocalSegment.attach(node(), segment));
    }

    /**
     * Connects to a segment of a node, which may be this one, as soon as it is there. The library
     * answers at once; this asks it again until the deadline. In C: {@code SCIConnectSegment}.
     *
     * @throws FabricTimeoutException if it was not there in time; the message has the library's
     *     last answer
     * @throws SisciException if it can never be
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public RemoteSegment connect(int node, int segment, Duration timeout)
            throws FabricException, InterruptedIOException {
        return retry(
                "segment %d of node %d".formatted(segment, node),
                timeout,
                () -> RemoteSegment.connect(node(), node, segment, false));
    }

    /**
     * Connects to a multicast group: what is stored into a map of it reaches all segments of the
     * group, as reflective memory. As {@link #connect}.
     *
     * <p>What a load from such a map gives, and whether a store of what was last stored there
     * reaches members that have changed it meanwhile, is up to the fabric; the one in software
     * sends changes alone. So let a flag in a group count, and load from one's own segment.
     *
     * @param group the id that the members gave their segments
     */
    public RemoteSegment connectGroup(int group, Duration timeout)
            throws FabricException, InterruptedIOException {
        return retry(
                "group " + group,
                timeout,
                () ->
                        RemoteSegment.connect(
                                node(), sisci_h.DIS_BROADCAST_NODEID_GROUP_ALL(), group, true));
    }

    /**
     * Connects to memory of a node by its physical address there, whether or not it is a segment:
     * registers of a device, say. Whoever calls it answers for what is there. Needs privileges, and
     * a driver that does it. No events come of it. In C: {@code SCIConnectSCISpace}.
     *
     * @param physicalAddress of up to 48 bits, as {@link LocalSegment#ioAddress()} tells it there
     * @throws SisciException if the driver refuses
     * @throws UnsupportedOperationException if the library does not have the function
     */
    public RemoteSegment connectForeignSpace(int node, long physicalAddress, long bytes)
            throws SisciException {
        if (node < 0 || node > 0xFFFF || physicalAddress >>> 48 != 0 || bytes <= 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "%,d bytes at 0x%x of node %d",
                            bytes,
                            physicalAddress,
                            node));
        }
        return inCall(() -> RemoteSegment.connectSpace(node(), node, physicalAddress, bytes));
    }

    /**
     * Makes a DMA queue. In C: {@code SCICreateDMAQueue}.
     *
     * @param maxEntries how many pieces a transfer may have
     */
    public DmaQueue newDmaQueue(int maxEntries) throws SisciException {
        return inCall(() -> DmaQueue.create(node(), maxEntries));
    }

    /** Takes a DMA channel of an engine, any that is free. */
    public DmaChannel requestDmaChannel(DmaChannel.Engine engine) throws SisciException {
        return requestDmaChannel(engine, sisci_h.SCI_DMA_CHANNEL_ID_DONTCARE(), false);
    }

    /**
     * Takes a DMA channel. In C: {@code SCIRequestDMAChannel}.
     *
     * @param shared whether other processes may have it too
     */
    public DmaChannel requestDmaChannel(DmaChannel.Engine engine, int channel, boolean shared)
            throws SisciException {
        return inCall(() -> DmaChannel.request(node(), engine, channel, shared));
    }

    /** Makes an interrupt, with a number that the library chooses. */
    public Interrupt newInterrupt() throws SisciException {
        return newInterrupt(InterruptOptions.ANY);
    }

    /** Makes an interrupt. In C: {@code SCICreateInterrupt}. */
    public Interrupt newInterrupt(InterruptOptions options) throws SisciException {
        return inCall(() -> Interrupt.create(node(), options));
    }

    /** Makes an interrupt that carries data, with a number that the library chooses. */
    public DataInterrupt newDataInterrupt() throws SisciException {
        return newDataInterrupt(InterruptOptions.ANY);
    }

    /** Makes an interrupt that carries data. In C: {@code SCICreateDataInterrupt}. */
    public DataInterrupt newDataInterrupt(InterruptOptions options) throws SisciException {
        return inCall(() -> DataInterrupt.create(node(), options));
    }

    /**
     * Connects to an interrupt of a node as soon as it is there. As {@link #connect}. In C: {@code
     * SCIConnectInterrupt}.
     */
    public RemoteInterrupt connectInterrupt(int node, int number, Duration timeout)
            throws FabricException, InterruptedIOException {
        return retry(
                "interrupt %d of node %d".formatted(number, node),
                timeout,
                () -> RemoteInterrupt.connect(node(), node, number));
    }

    /**
     * Connects to an interrupt of a node that carries data, as soon as it is there. As {@link
     * #connect}. In C: {@code SCIConnectDataInterrupt}.
     */
    public RemoteDataInterrupt connectDataInterrupt(int node, int number, Duration timeout)
            throws FabricException, InterruptedIOException {
        return retry(
                "data interrupt %d of node %d".formatted(number, node),
                timeout,
                () -> RemoteDataInterrupt.connect(node(), node, number));
    }

    /**
     * Lets a device of this machine, a GPU say, reach other nodes through the adapter. The driver
     * may take a moment after this returns. In C: {@code SCIRegisterPCIeRequester}.
     *
     * @param bus the device's bus number
     * @param deviceFunction its device number times 8, and its function
     */
    public PcieRequester registerRequester(int bus, int deviceFunction) throws SisciException {
        return inCall(() -> PcieRequester.register(node(), bus, deviceFunction));
    }

    private <T> T retry(String what, Duration timeout, Call<T, SisciException> attempt)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        for (var pause = FIRST_PAUSE; ; pause = doubled(pause)) {
            try {
                return inCall(attempt);
            } catch (SisciException e) {
                if (!e.error().isTransient()) {
                    throw e;
                }
                if (deadline.hasPassed()) {
                    throw deadline.missed(
                            "No connection to %s (the last answer was %s)"
                                    .formatted(
                                            what, SisciException.describe(e.function(), e.code())));
                }
            }
            pause(Math.min(pause.toNanos(), deadline.remainingNanos()), what);
        }
    }

    private static Duration doubled(Duration pause) {
        var twice = pause.multipliedBy(2);
        return twice.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : twice;
    }

    /** Asks once, as {@link #connect} does again and again. */
    RemoteSegment connectNow(int node, int segment) throws SisciException {
        return inCall(() -> RemoteSegment.connect(node(), node, segment, false));
    }
}
