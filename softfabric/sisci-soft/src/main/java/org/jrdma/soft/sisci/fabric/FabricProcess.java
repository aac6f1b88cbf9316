package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.FabricConnections;
import org.jrdma.soft.sisci.control.FabricDirectory;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A process that has joined a fabric as a part of a node. Safe for use by multiple threads. */
public final class FabricProcess implements FabricConnections.Listener {

    public static final int MAX_GROUPS = Topology.MAX_GROUPS;

    private static final Logger LOG = LoggerFactory.getLogger(FabricProcess.class);

    /** If so many requests of a process wait, its further requests are refused. */
    private static final int MAX_WAITING = 128;

    private static final int ANY_NODE = 0;
    private static final int MAX_SWEEPS = 100;
    private static final long SWEEP_PAUSE_NANOS = 20_000_000;

    private final PeerLookupAndRequests fabric;
    private final ProcessContext context;
    private final LocalSegments segments;
    private final LocalInterrupts interrupts;
    private final OfferedDevices devices;
    private final PerConnectionExecutor refreshes;

    /**
     * The ended processes whose files a thread is deleting. A hostile process can open and close
     * any number of connections as a process that has not ended.
     */
    private final Set<ObjectAnnouncementFile> swept = ConcurrentHashMap.newKeySet();

    private FabricProcess(PeerLookupAndRequests fabric, int adapters, FaultInjector faults) {
        this.fabric = fabric;
        this.context =
                new ProcessContext(
                        fabric,
                        new Topology(fabric, adapters),
                        faults,
                        new CallbackThread(faults.delay()),
                        Executors.newCachedThreadPool(
                                Thread.ofPlatform()
                                        .daemon()
                                        .name("sisci-soft-worker-", 0)
                                        .factory()),
                        new WriteBufferFlusher(),
                        new DmaChannelAllocator(),
                        new IncomingPeerMessageDispatcher());
        this.segments = new LocalSegments(context);
        this.interrupts = new LocalInterrupts(context);
        this.devices = new OfferedDevices(context);
        this.refreshes = new PerConnectionExecutor(context.workers());
    }

    /**
     * Joins a fabric.
     *
     * @param path the directory of the fabric
     * @param mustBePrivate true if the directory must belong to this user and deny access to others
     * @param node the id of the node; 0 for the first free id
     * @param adapters the number of adapters of the node
     * @param faults the faults to inject
     */
    public static FabricProcess join(
            Path path, boolean mustBePrivate, int node, int adapters, FaultInjector faults) {
        try {
            var directory = FabricDirectory.open(path, mustBePrivate);
            try {
                return directory.locked(() -> {
                    directory.sweep();
                    var members =
                            directory.entries().stream()
                                    .filter(entry ->
                                            entry.kind() == ObjectAnnouncementFile.Kind.MEMBER)
                                    .toList();
                    var id = node == ANY_NODE ? freeNode(members) : node;
                    var number = 0;
                    while (members.contains(
                            new ObjectAnnouncementFile(
                                    id, ObjectAnnouncementFile.Kind.MEMBER, number, number))) {
                        number++;
                    }
                    var connections = new FabricConnections(directory, id, number);
                    try {
                        var fabric = new PeerLookupAndRequests(directory, connections, id, number);
                        var member = new FabricProcess(fabric, adapters, faults);
                        member.start();
                        LOG.info(
                                "Joined the fabric {} as process {} of node {}",
                                directory,
                                number,
                                id);
                        return member;
                    } catch (Throwable e) {
                        connections.close();
                        throw e;
                    }
                });
            } catch (Throwable e) {
                directory.close();
                throw e;
            }
        } catch (FabricException e) {
            throw SciException.of(e);
        }
    }

    private void start() {
        try {
            context.callbacks().start();
            fabric.connections().start(this);
            context.topology().refresh();
        } catch (Throwable e) {
            context.callbacks().close();
            throw e;
        }
    }

    private static int freeNode(List<ObjectAnnouncementFile> members) {
        var used = members.stream().map(ObjectAnnouncementFile::node).collect(Collectors.toSet());
        return IntStream.iterate(
                        Topology.FIRST_NODE,
                        id -> id < Topology.END_OF_NODES,
                        id -> id + Topology.NODE_STEP)
                .filter(id -> !used.contains(id))
                .findFirst()
                .orElseThrow(() ->
                        new SciException(SCI_ERR_HW_NOSPC(), "The fabric has no free node id."));
    }

    /** Leaves the fabric, and deletes all files of this process. */
    public void leave() {
        try {
            devices.close(); // first, because borrowers free their memory when a connection ends
            fabric.connections().close();
            context.objects().abandon();
            interrupts.abandon();
            deleteFiles(fabric.directory());
        } finally {
            context.callbacks().close();
            context.workers().shutdownNow();
            fabric.directory().close();
        }
    }

    /**
     * Makes the JVM delete all files of this process when it exits, after all shutdown hooks. Until
     * then, the shutdown hooks of the program can use the fabric, as they can use a fabric in
     * hardware. A shutdown hook calls this method.
     */
    public void deleteFilesOnExit() {
        try {
            fabric.directory().deleteOnExit(fabric.node(), fabric.number());
        } catch (FabricException e) {
            LOG.warn("The files of this process stay until a process joins: {}", e.getMessage());
        }
    }

    private void deleteFiles(FabricDirectory directory) {
        try {
            directory.locked(() -> {
                for (var entry : directory.entriesOf(fabric.node(), fabric.number())) {
                    directory.delete(entry);
                }
                directory.sweep(); // Deletes the files of processes that were killed.
                return true;
            });
        } catch (FabricException e) {
            LOG.warn(
                    "Cannot delete all files of this process in {}: {}", directory, e.getMessage());
        }
    }

    /** Creates a descriptor. In C: {@code SCIOpen}. */
    public SciDescriptor open() {
        return new SciDescriptor(context);
    }

    public int node() {
        return fabric.node();
    }

    public List<Integer> nodes() {
        return fabric.nodes();
    }

    public LocalSegments segments() {
        return segments;
    }

    public LocalInterrupts interrupts() {
        return interrupts;
    }

    public OfferedDevices offeredDevices() {
        return devices;
    }

    /** Returns the devices of the fabric whose lenders respond, sorted by their ids. */
    public List<LentDeviceDescription> devices() {
        return fabric.devices();
    }

    /** Asks the lender of a device to permit or to refuse new borrows. */
    public void makeAvailable(long fabricDeviceId, boolean isAvailable) {
        fabric.makeAvailable(fabricDeviceId, isAvailable);
    }

    /** Delivers all stores of this process that are still in write buffers. */
    public void flush() {
        context.writeBuffers().flush();
    }

    /** Fails if the node has no adapter with this number. */
    public void checkAdapter(int adapter) {
        context.topology().checkAdapter(adapter);
    }

    /** Returns true if a node exists. Fails if its id is invalid or the link to it is cut. */
    public boolean probe(int id, int adapter) {
        checkAdapter(adapter);
        context.topology().checkNode(id);
        context.topology().checkLink(id, adapter);
        return nodes().contains(id);
    }

    /** Returns true if the link of an adapter of this node is not cut. */
    public boolean isLinkOperational(int adapter) {
        return !context.topology().isCut(fabric.node(), adapter);
    }

    /**
     * Cuts or restores the link of an adapter of this node. All processes have been notified when
     * this method returns.
     *
     * @throws SciException if a process does not respond; all other processes have been notified
     */
    public void setLink(int adapter, boolean operational) {
        context.topology().setLink(adapter, operational);
    }

    @Override
    public void received(Connection from, Message message) {
        switch (message.kind()) {
            case HELLO, RESPONSE -> throw new AssertionError("Unexpected message " + message);
            case CONNECT_SEGMENT,
                    FIND_SPACE,
                    DISCONNECT_SEGMENT,
                    DETACH_SEGMENT,
                    ATTACH_SEGMENT,
                    SEGMENT_OPERATION,
                    FLAG_STORED ->
                    segments.received(from, message);
            case CONNECT_INTERRUPT, DISCONNECT_INTERRUPT, TRIGGER, TRIGGER_WITH_DATA ->
                    interrupts.received(from, message);
            case IDENTIFY_DEVICE,
                    MAKE_DEVICE_AVAILABLE,
                    BORROW_DEVICE,
                    RETURN_DEVICE,
                    CONNECT_DEVICE_SEGMENT,
                    CREATE_DEVICE_SEGMENT,
                    MAP_FOR_DEVICE,
                    UNMAP_FOR_DEVICE ->
                    devices.received(from, message);
            case SEGMENT_GONE, SEGMENT_EVENT, INTERRUPT_GONE, TAKEN, DEVICE_SIGNAL, DEVICE_GONE ->
                    context.objects().received(from, message);
            case REFRESH ->
                    PeerLookupAndRequests.handle(
                            from, message, () -> refreshAndRespond(from, message));
        }
    }

    /**
     * Reads the directory on a worker thread, because this process may then have to connect to new
     * members of a group, and sends the response.
     */
    private void refreshAndRespond(Connection from, Message message) {
        refreshes.add(
                from,
                MAX_WAITING,
                () ->
                        PeerLookupAndRequests.respond(
                                from,
                                message,
                                () -> {
                                    context.topology().refresh();
                                    return 0;
                                }));
    }

    @Override
    public void lost(Connection connection) {
        context.objects().lost(connection);
        segments.lost(connection);
        interrupts.lost(connection);
        devices.lost(connection);
        var ended =
                new ObjectAnnouncementFile(
                        connection.node(),
                        ObjectAnnouncementFile.Kind.MEMBER,
                        connection.member(),
                        connection.member());
        if (!swept.add(ended)) {
            return;
        }
        try {
            context.workers().execute(() -> sweepAfter(ended));
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            swept.remove(ended);
            // The next call deletes the files.
            LOG.debug("No thread deletes the files of an ended process", e);
        }
    }

    /**
     * Deletes the files of a process that has ended. Tries repeatedly, because the system closes
     * the descriptors of a killed process one by one: its connections may end before its listening
     * socket.
     */
    private void sweepAfter(ObjectAnnouncementFile ended) {
        var directory = fabric.directory();
        try {
            for (var sweeps = 0; sweeps < MAX_SWEEPS; sweeps++) {
                directory.sweep();
                if (!directory.entries().contains(ended) || Thread.interrupted()) {
                    return;
                }
                LockSupport.parkNanos(SWEEP_PAUSE_NANOS);
            }
        } catch (FabricException | OutOfMemoryError e) {
            LOG.debug("Cannot delete stale files in {}: {}", directory, e.getMessage());
        } finally {
            swept.remove(ended);
        }
    }
}
