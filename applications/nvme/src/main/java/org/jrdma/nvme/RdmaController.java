package org.jrdma.nvme;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.BitSet;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.pcie.DmaAllocation;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.model.Access;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A controller on a network. Its thread sends keep-alive commands, and connects a lost controller
 * again. The I/O queues then connect themselves again.
 */
final class RdmaController extends AbstractController {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaController.class);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);
    private static final long CHECK_NANOS = 50_000_000;
    private static final long PAUSE_NANOS = 1_000_000;
    private static final int KEEP_ALIVES_PER_TIMEOUT = 3;

    private final RdmaConnector library;
    private final InetSocketAddress address;
    private final String subsystemName;
    private final FabricsOptions fabrics;
    private final Device device;
    private final ProtectionDomain domain;
    private final BitSet usedQueueIds = new BitSet();
    private final Thread maintainer;

    /** Accessed only by the thread of this object. */
    private long lastKeepAlive = System.nanoTime();

    /** The disconnected admin queues, whose memory the thread of this object frees. */
    private final Queue<RdmaAdminQueue> lostQueues = new ConcurrentLinkedQueue<>();

    /** The controller; null while it is lost. */
    private volatile @Nullable RdmaControllerSession session;

    /** The reason for which the controller is not connected again any more. */
    private volatile @Nullable NvmeException failure;

    private volatile boolean stopping;
    private String serialNumber = "";
    private String lossReason = "";
    private Deadline lossDeadline = Deadline.NEVER;

    RdmaController(
            RdmaConnector library,
            InetSocketAddress address,
            String subsystemName,
            FabricsOptions fabrics)
            throws FabricException {
        super(fabrics.drive());
        this.library = library;
        this.address = address;
        this.subsystemName = subsystemName;
        this.fabrics = fabrics;
        this.device = library.open(address, fabrics.connectTimeout());
        try {
            this.domain = device.newProtectionDomain();
        } catch (Throwable e) {
            device.close();
            throw e;
        }
        this.maintainer =
                Thread.ofPlatform().daemon().name("jrdma-nvme-host").unstarted(this::maintain);
    }

    FabricsOptions fabrics() {
        return fabrics;
    }

    RdmaConnector library() {
        return library;
    }

    InetSocketAddress address() {
        return address;
    }

    String subsystemName() {
        return subsystemName;
    }

    ProtectionDomain domain() {
        return domain;
    }

    /** Returns the controller; null while it is lost. */
    @Nullable RdmaControllerSession session() {
        return session;
    }

    @Override
    void start() throws FabricException {
        try {
            var first = connect();
            serialNumber = first.identity().serialNumber();
            use(first);
        } catch (InterruptedIOException _) {
            throw interrupted("its connection");
        }
        maintainer.start();
    }

    private NvmeException interrupted(String event) {
        return new NvmeException("Interrupted while waiting for %s of %s".formatted(event, this));
    }

    private RdmaControllerSession connect() throws FabricException, InterruptedIOException {
        var admin = new RdmaAdminQueue(library, domain, address, toString(), fabrics);
        try {
            return RdmaControllerSession.start(
                    admin, subsystemName, fabrics, options().queues(), toString(), deadline());
        } catch (Throwable e) {
            admin.close();
            throw e;
        }
    }

    /** Reads the namespaces, and lets other threads use the controller. */
    private void use(RdmaControllerSession next) throws FabricException {
        try {
            readNamespaces(pages(next));
            session = next;
        } catch (Throwable e) {
            next.admin().close();
            throw e;
        }
    }

    /** Returns a reader that, unlike this object, does not wait for a lost controller. */
    private AdminPageReader pages(RdmaControllerSession current) {
        return new AdminPageReader() {
            @Override
            public <T> T read(AdminPageKind page, int namespace, Function<MemorySegment, T> decoder)
                    throws FabricException {
                return current.read(page, namespace, deadline(), decoder);
            }
        };
    }

    private void maintain() {
        while (!stopping && failure == null) {
            try {
                maintainSession();
            } catch (RuntimeException | Error e) { // such as OutOfMemoryError
                FailureLog.errorAndPause(
                        LOG, "The check of a controller failed and is repeated", e);
            }
        }
    }

    private void maintainSession() {
        for (var lost = lostQueues.poll(); lost != null; lost = lostQueues.poll()) {
            lost.close();
        }
        var current = session;
        var interval = fabrics.keepAlive().toNanos() / KEEP_ALIVES_PER_TIMEOUT;
        if (current == null) {
            reconnect();
            lastKeepAlive = System.nanoTime();
        } else if (current.admin().isLost()) {
            lose(current, "the target has disconnected");
        } else if (System.nanoTime() - lastKeepAlive >= interval && keepAlive(current)) {
            lastKeepAlive = System.nanoTime();
        } else {
            takeEvent(current);
            LockSupport.parkNanos(Math.min(CHECK_NANOS, interval));
        }
    }

    /** Returns false if another admin command is executed, which may take long. */
    private boolean keepAlive(RdmaControllerSession current) {
        try {
            return current.admin().tryKeepAlive(Deadline.after(fabrics.keepAlive()));
        } catch (FabricException | IllegalStateException e) {
            lose(current, e.getMessage());
            return true;
        }
    }

    /** Reads the namespaces again if the controller has reported that they have changed. */
    private void takeEvent(RdmaControllerSession current) {
        try {
            var event = current.admin().takeEvent(deadline());
            if (event.isEmpty()) {
                return;
            }
            LOG.debug("{} has reported {}", this, event.get());
            if (event.get().equals(AsyncEvent.NAMESPACE_CHANGED)) {
                readChangedNamespaces(current);
            }
            current.admin().requestEvent(deadline());
        } catch (FabricException | IllegalStateException e) {
            if (current.admin().isLost()) {
                lose(current, e.getMessage());
            } else {
                LOG.warn("Changes of namespaces are not noticed any more: {}", e.getMessage());
            }
        }
    }

    private void readChangedNamespaces(RdmaControllerSession current) throws FabricException {
        var before = namespaces();
        current.acknowledgeNotice(deadline()); // first, so that a later change is reported
        readNamespaces(pages(current));
        if (!namespaces().equals(before)) {
            LOG.info(
                    "The namespaces of {} have changed. It has {} now.", this, namespaces().size());
        }
    }

    /**
     * Reports that a controller is lost. Does nothing if it was replaced already.
     *
     * @param reason the failure, for messages
     */
    void lose(RdmaControllerSession lost, @Nullable String reason) {
        synchronized (lostQueues) { // not the monitor of this object, which stop() holds
            if (session == lost) {
                lossDeadline = Deadline.after(fabrics.lossTimeout());
                lossReason = String.valueOf(reason);
                session = null; // last, because other threads then read the fields above
                if (!stopping) {
                    LOG.warn("{} is lost, and will be connected again: {}", this, reason);
                }
                lost.admin().disconnect();
                lostQueues.add(lost.admin());
                LockSupport.unpark(maintainer);
            }
        }
    }

    /** Connects a lost controller again, with increasing delays. */
    private void reconnect() {
        var delay = fabrics.reconnectDelay();
        while (!stopping) {
            LockSupport.parkNanos(delay.toNanos());
            try {
                var next = connect();
                if (!next.identity().serialNumber().equals(serialNumber)) {
                    next.admin().close();
                    fail(
                            "the target has another drive now, with serial number "
                                    + next.identity().serialNumber());
                    return;
                }
                use(next);
                LOG.info("{} is connected again", this);
                return;
            } catch (FabricException | InterruptedIOException | IllegalStateException e) {
                LOG.debug("Cannot connect {} again: {}", this, e.getMessage());
                lossReason = String.valueOf(e.getMessage());
            }
            if (lossDeadline.hasPassed()) {
                fail(lossReason);
                return;
            }
            delay = delay.multipliedBy(2);
            if (delay.compareTo(FabricsOptions.MAX_RECONNECT_DELAY) > 0) {
                delay = FabricsOptions.MAX_RECONNECT_DELAY;
            }
        }
    }

    private void fail(String reason) {
        failure =
                new NvmeException(
                        "%s is lost, and could not be connected again within %s: %s. Close the drive and connect again."
                                .formatted(this, fabrics.lossTimeout(), reason));
    }

    @Override
    void checkRunning() throws NvmeException {
        var reason = failure;
        if (reason != null) {
            throw new NvmeException(reason.getMessage());
        }
    }

    /** Waits until the controller is connected. */
    private RdmaControllerSession awaitSession(String name, Deadline deadline)
            throws FabricException {
        var current = session;
        while (current == null) {
            checkRunning();
            if (deadline.hasPassed()) {
                throw deadline.missed(
                        "%s did not start %s, because it is lost (%s)"
                                .formatted(this, name, lossReason));
            }
            LockSupport.parkNanos(PAUSE_NANOS);
            if (ThreadInterruptDeferral.endWait()) {
                throw interrupted(name);
            }
            current = session;
        }
        return current;
    }

    @Override
    public <T> T read(AdminPageKind page, int namespace, Function<MemorySegment, T> decoder)
            throws FabricException {
        var name = page.description(namespace);
        var deadline = deadline();
        while (true) {
            var current = awaitSession(name, deadline);
            try {
                return current.read(page, namespace, deadline, decoder);
            } catch (FabricException e) {
                if (!current.admin().isLost() || deadline.hasPassed()) {
                    throw e;
                }
                lose(current, e.getMessage()); // a read can be repeated
            }
        }
    }

    @Override
    void requireHostIdentifier() {
        // the Connect command contains it
    }

    @Override
    NvmeQueue newQueue(int depth, Lifetime owner, int maxTransferBytes) throws FabricException {
        var deadline = deadline();
        var current = awaitSession("the creation of a queue", deadline);
        var maxDepth = current.capabilities().maxQueueEntries() - 1;
        if (depth < 1 || depth > maxDepth) {
            throw new IllegalArgumentException(
                    "The depth of a queue of %s is %d. It must be from 1 to %d."
                            .formatted(this, depth, maxDepth));
        }
        var id = takeQueueId(current);
        return new RdmaQueue(
                RdmaQueueResources.create(this, current, id, depth, owner),
                current,
                maxTransferBytes);
    }

    private int takeQueueId(RdmaControllerSession current) throws NvmeException {
        synchronized (usedQueueIds) {
            var id = usedQueueIds.nextClearBit(1);
            if (id > current.ioQueues()) {
                throw new NvmeException(
                        "Cannot create a queue: all %d queues of %s are in use. Close a queue, or raise the number of queues at the target."
                                .formatted(current.ioQueues(), this),
                        Status.INVALID_QUEUE_ID.encode());
            }
            usedQueueIds.set(id);
            return id;
        }
    }

    void returnQueueId(int id) {
        synchronized (usedQueueIds) {
            usedQueueIds.clear(id);
        }
    }

    @Override
    DmaMemory newMemory(long bytes) throws FabricException {
        var arena = domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
        try {
            var rounded = Math.ceilDiv(bytes, Configuration.PAGE_BYTES) * Configuration.PAGE_BYTES;
            var region = arena.region(rounded);
            var allocation =
                    new DmaAllocation(
                            region.segment(),
                            DmaAllocation.contiguous(region.startAddress(), rounded),
                            arena::close);
            return new DmaMemory(this, add(allocation), region.remoteKey(), () -> free(allocation));
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
    }

    @Override
    void release() throws FabricException {
        stopping = true;
        if (session == null) {
            maintainer.interrupt(); // ends an attempt to connect
        } else {
            LockSupport.unpark(maintainer); // completes a keep-alive command before it ends
        }
        if (maintainer.isAlive()) {
            join();
        }
        var current = session;
        session = null;
        try {
            if (current != null && !current.admin().isLost()) {
                current.shutDown(deadline());
            }
        } catch (FabricException e) {
            LOG.warn("{} was disconnected without a shutdown: {}", this, e.getMessage());
        } finally {
            device.close();
        }
    }

    private void join() {
        try {
            var _ = maintainer.join(STOP_TIMEOUT);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return "%s at %s".formatted(subsystemName, AddressText.of(address));
    }
}
