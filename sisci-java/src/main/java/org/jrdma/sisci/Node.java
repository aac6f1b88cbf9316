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
import org.jrdma.sisci.access.SisciPackageInternals;
import org.jrdma.sisci.internal.DeferredRemovals;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.RemovalRetry;
import org.jrdma.sisci.internal.SisciFunctionGroups;
import org.jrdma.sisci.model.NodeInfo;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;

/**
 * This node of the fabric, opened through one of its adapters. All other objects are created,
 * directly or indirectly, from a node, and are closed with the node. {@link
 * org.jrdma.sisci.smartio.SmartIo} borrows devices of other nodes.
 *
 * <p>Safe for use by multiple threads. In C: {@code sci_desc_t}; {@link #close()} is {@code
 * SCIClose}, and for the last open node also {@code SCITerminate}.
 */
public final class Node extends SisciObject {

    /** The number of adapters that {@link #adapters()} looks for: those with the numbers 0 to 3. */
    private static final int ADAPTERS = 4;

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 50_000_000;

    static {
        SisciPackageInternals.open(
                new SisciPackageInternals() {
                    @Override
                    public ObjectHandle handle(SisciObject object) {
                        return object.handle();
                    }

                    @Override
                    public RemoteSegment connect(
                            ObjectHandle device, int id, int memoryType, String name)
                            throws SisciException {
                        return RemoteSegment.connectOfDevice(device, id, memoryType, name);
                    }
                });
    }

    private Node(NodeHandle node, RemovalRetry retry) {
        super(new ObjectHandle(node, node.address(), node.lifetime(), retry));
    }

    /**
     * Opens a node.
     *
     * @param closed the action to run after the node was closed, unless the library fails to close
     *     it
     */
    static Node open(SisciFunctionGroups functions, int adapter, Runnable closed)
            throws SisciException {
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

    /** Returns the id of this node, which peers use to connect. In C: {@code SCIGetLocalNodeId}. */
    public int id() {
        return node().id();
    }

    /** Returns the adapter through which this node was opened. */
    public Adapter adapter() {
        return new Adapter(node(), node().adapter(), node().id());
    }

    /**
     * Returns the adapters of this machine with the numbers 0 to 3. In C: {@code
     * SCIGetLocalNodeId}.
     */
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
     * Returns the adapter with the given number. In C: {@code SCIGetLocalNodeId}.
     *
     * @throws SisciException if there is no such adapter
     */
    public Adapter adapter(int number) throws SisciException {
        return new Adapter(
                node(),
                number,
                inCall(() -> functions().nodes().localNodeId(number, "adapter " + number)));
    }

    /**
     * Returns true if a node is reachable. In C: {@code SCIProbeNode}.
     *
     * @param peer the id of the node
     */
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
     * Returns the ids of the node with the given name, which the fabric's configuration ({@code
     * dishosts.conf}) defines. In C: {@code SCIGetNodeIdByAdapterName}.
     */
    public List<Integer> nodeIds(String name) throws SisciException {
        return inCall(() -> functions().nodes().nodeIds(name, "\"%s\"".formatted(name)));
    }

    /**
     * Returns the configuration entry of the node with the given name. In C: {@code
     * SCIGetNodeInfoByAdapterName}, {@code SCIGetAdapterTypeString}.
     *
     * @throws SisciException if there is no such node
     * @throws UnsupportedOperationException if the library does not have the function
     */
    public NodeInfo nodeInfo(String name) throws SisciException {
        return inCall(() -> functions().nodes().nodeInfo(name, "\"%s\"".formatted(name)));
    }

    /** Returns the size of a cache line of the CPU, in bytes. In C: {@code SCI_Q_SYSTEM}. */
    public int cacheLineBytes() throws SisciException {
        return inCall(() -> functions().nodes().cacheLineBytes());
    }

    /**
     * Creates a segment of the given id and size in bytes. Peers can connect to the segment after
     * {@link LocalSegment#offer()}.
     */
    public LocalSegment newSegment(int segment, long bytes) throws SisciException {
        return newSegment(SegmentOptions.of(segment, bytes));
    }

    /** Creates a segment with the given options. In C: {@code SCICreateSegment}. */
    public LocalSegment newSegment(SegmentOptions options) throws SisciException {
        return inCall(() -> LocalSegment.create(node(), options));
    }

    /**
     * Attaches to a segment that another process of this node shares. In C: {@code
     * SCIAttachLocalSegment}.
     */
    public LocalSegment attach(int segment) throws SisciException {
        return inCall(() -> LocalSegment.attach(node(), segment));
    }

    /**
     * Connects to a segment of a node, which may be this node. The library does not wait for the
     * segment, so this method retries until the segment is available or the timeout expires. In C:
     * {@code SCIConnectSegment}.
     *
     * @throws FabricTimeoutException if the segment was not available in time; its cause is the
     *     last error of the library
     * @throws SisciException if the connection fails with an error that a retry cannot resolve
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
     * Connects to a multicast group, and retries like {@link #connect}. A store into a map of the
     * group reaches all segments of the group (reflective memory).
     *
     * <p>Two results depend on the fabric. The first is the value of a load from such a map. The
     * second concerns a member that has changed its segment since a value was stored: if the same
     * value is stored again, the fabric may or may not overwrite the change. The software fabric
     * transmits only changes. Therefore, increment flags in a group instead of setting them to a
     * constant, and load from the local segment.
     *
     * @param group the id of the group, which is the id of the members' segments
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
     * Connects to memory of a node by its physical address on that node, for example to the
     * registers of a device. The memory need not be a segment: the caller is responsible for all
     * accesses. The process needs privileges, and the driver must support this function. The
     * connection reports no events. In C: {@code SCIConnectSCISpace}.
     *
     * @param physicalAddress the address of up to 48 bits, as {@link LocalSegment#ioAddress()}
     *     returns it on that node
     * @throws SisciException if the driver rejects the connection
     * @throws UnsupportedOperationException if the library does not have the function
     */
    public RemoteSegment connectForeignSpace(int node, long physicalAddress, long bytes)
            throws SisciException {
        if (node < 0 || node > 0xFFFF || physicalAddress >>> 48 != 0 || bytes <= 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "Invalid address: %,d bytes at 0x%x of node %d. Physical addresses have"
                                    + " 48 bits, node ids 16.",
                            bytes,
                            physicalAddress,
                            node));
        }
        return inCall(() -> RemoteSegment.connectSpace(node(), node, physicalAddress, bytes));
    }

    /**
     * Creates a DMA queue. In C: {@code SCICreateDMAQueue}.
     *
     * @param maxEntries the maximum number of pieces of one transfer
     */
    public DmaQueue newDmaQueue(int maxEntries) throws SisciException {
        return inCall(() -> DmaQueue.create(node(), maxEntries));
    }

    /** Allocates a free DMA channel of an engine. The library chooses the channel. */
    public DmaChannel requestDmaChannel(DmaChannel.Engine engine) throws SisciException {
        return requestDmaChannel(engine, sisci_h.SCI_DMA_CHANNEL_ID_DONTCARE(), false);
    }

    /**
     * Allocates the DMA channel with the given number. In C: {@code SCIRequestDMAChannel}.
     *
     * @param shared true if other processes may allocate the channel too
     */
    public DmaChannel requestDmaChannel(DmaChannel.Engine engine, int channel, boolean shared)
            throws SisciException {
        return inCall(() -> DmaChannel.request(node(), engine, channel, shared));
    }

    /** Creates an interrupt with a number that the library chooses. */
    public LocalInterrupt newInterrupt() throws SisciException {
        return newInterrupt(InterruptOptions.ANY);
    }

    /** Creates an interrupt with the given options. In C: {@code SCICreateInterrupt}. */
    public LocalInterrupt newInterrupt(InterruptOptions options) throws SisciException {
        return inCall(() -> LocalInterrupt.create(node(), options));
    }

    /** Creates a data interrupt with a number that the library chooses. */
    public LocalDataInterrupt newDataInterrupt() throws SisciException {
        return newDataInterrupt(InterruptOptions.ANY);
    }

    /** Creates a data interrupt with the given options. In C: {@code SCICreateDataInterrupt}. */
    public LocalDataInterrupt newDataInterrupt(InterruptOptions options) throws SisciException {
        return inCall(() -> LocalDataInterrupt.create(node(), options));
    }

    /**
     * Connects to an interrupt of a node, and retries like {@link #connect}. In C: {@code
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
     * Connects to a data interrupt of a node, and retries like {@link #connect}. In C: {@code
     * SCIConnectDataInterrupt}.
     */
    public RemoteDataInterrupt connectDataInterrupt(int node, int number, Duration timeout)
            throws FabricException, InterruptedIOException {
        return retry(
                "data interrupt %d of node %d".formatted(number, node),
                timeout,
                () -> RemoteDataInterrupt.connect(node(), node, number));
    }

    /**
     * Creates the receiving side of a message queue: creates a segment with a ring buffer for the
     * messages, and makes it available.
     *
     * @param segment the id of the segment, which the sender uses to connect
     * @param capacity the size of the ring buffer in bytes: a multiple of 8, at least 64. A message
     *     occupies its length rounded up to a multiple of 8, plus 8 bytes
     */
    public MessageReceiver newMessageQueue(int segment, int capacity) throws SisciException {
        return MessageReceiver.open(this, capacity, bytes -> SegmentOptions.of(segment, bytes));
    }

    /**
     * Creates the receiving side of a message queue in a segment with a free id, which {@link
     * MessageReceiver#segmentId()} returns. The rest is as for {@link #newMessageQueue(int, int)}.
     */
    public MessageReceiver newMessageQueue(int capacity) throws SisciException {
        return MessageReceiver.open(
                this,
                capacity,
                bytes -> SegmentOptions.withFreeId(MessageRing.FIRST_FREE_ID, bytes));
    }

    /**
     * Connects to the receiving side of a message queue, and retries until it is available. A
     * message queue can have only one sender. If two senders connect at the same time, one of them
     * normally fails, but SISCI provides no operation that guarantees this.
     *
     * @param node the node id of the receiver
     * @param segment the id of the segment with which the receiver was created
     * @throws FabricTimeoutException if the receiver was not available in time
     * @throws FabricException if the receiver already has a sender, or the segment is not a message
     *     queue
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public MessageSender connectMessageQueue(int node, int segment, Duration timeout)
            throws FabricException, InterruptedIOException {
        return MessageSender.connect(this, node, segment, timeout);
    }

    /**
     * Allows a device of this machine, such as a GPU, to access other nodes through the adapter.
     * The driver may grant the access a short time after this method returns. In C: {@code
     * SCIRegisterPCIeRequester}.
     *
     * @param bus the bus number of the device
     * @param deviceFunction the device number times 8, plus the function number
     */
    public PcieRequester registerRequester(int bus, int deviceFunction) throws SisciException {
        return inCall(() -> PcieRequester.register(node(), bus, deviceFunction));
    }

    private <T> T retry(String target, Duration timeout, Call<T, SisciException> attempt)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        for (var pause = FIRST_PAUSE_NANOS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS)) {
            try {
                return inCall(attempt);
            } catch (SisciException e) {
                if (!e.error().isTransient()) {
                    throw e;
                }
                if (deadline.hasPassed()) {
                    throw deadline.missed(
                            "No connection to %s (last error: %s)"
                                    .formatted(
                                            target,
                                            SisciException.describe(e.function(), e.code())),
                            e);
                }
            }
            pause(Math.min(pause, deadline.remainingNanos()), target);
        }
    }

    /** Connects to a segment like {@link #connect}, but without retries. */
    RemoteSegment connectNow(int node, int segment) throws SisciException {
        return inCall(() -> RemoteSegment.connect(node(), node, segment, false));
    }
}
