package org.jrdma.nvme.soft;

import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.nvme.model.ConnectPrivateData;
import org.jrdma.nvme.model.RdmaConnectRejection;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionRequest;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A target for NVMe over RDMA: hosts connect to its {@link Subsystem}s over a network. The host of
 * the Linux kernel, and {@code NvmeFabrics} of this library, can use it. There is no authentication
 * and no encryption: a host can state any name.
 *
 * <p>Each connection has a thread. The caller remains the owner of the subsystems and of their
 * storage. Safe for use by multiple threads.
 */
public final class NvmeTarget implements AutoCloseable {

    /** The usual port. */
    public static final int PORT = 4420;

    private static final Logger LOG = LoggerFactory.getLogger(NvmeTarget.class);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    /** A device, and the protection domain of its connections. */
    private record OpenDevice(Device device, ProtectionDomain domain) {}

    private final Verbs verbs;
    private final Listener listener;
    private final TargetOptions options;
    private final ExportedSubsystems exports;
    private final Map<String, OpenDevice> devices = new HashMap<>();

    /** A connection of a host, with its queue as soon as it is accepted. */
    private record Served(InetAddress host, Optional<TargetQueueWorker> queue) {}

    /** The connections, by their threads. */
    private final Map<Thread, Served> connections = new ConcurrentHashMap<>();

    private final AtomicInteger failures = new AtomicInteger();
    private final Thread acceptor;
    private volatile boolean closed;

    private NvmeTarget(Verbs verbs, Listener listener, TargetOptions options) {
        this.verbs = verbs;
        this.listener = listener;
        this.options = options;
        this.exports = new ExportedSubsystems(options.referrals());
        this.acceptor =
                Thread.ofPlatform().daemon().name("jrdma-nvme-target").unstarted(this::accept);
    }

    /**
     * Starts a target on the devices of {@link Verbs#configured()}.
     *
     * @param address an address of an RDMA device, or the wildcard address; see {@link #PORT}
     * @throws FabricException if there is no device with this address, or the port is in use
     */
    public static NvmeTarget listen(InetSocketAddress address, TargetOptions options)
            throws FabricException {
        return listen(Verbs.configured(), ConnectionManager.configured(), address, options);
    }

    /**
     * Starts a target on the devices of a library.
     *
     * @param manager the connection manager of the same library
     * @param address an address of an RDMA device, or the wildcard address; see {@link #PORT}
     * @throws FabricException if there is no device with this address, or the port is in use
     */
    public static NvmeTarget listen(
            Verbs verbs,
            ConnectionManager manager,
            InetSocketAddress address,
            TargetOptions options)
            throws FabricException {
        var target = new NvmeTarget(verbs, manager.listen(address), options);
        target.acceptor.start();
        return target;
    }

    /**
     * Exports a subsystem to all hosts. The program can still add, resize and remove namespaces.
     * Until a subsystem is exported, hosts are asked to connect again later.
     *
     * @throws IllegalArgumentException if a subsystem with the same name is exported
     */
    public void export(Subsystem subsystem) {
        exports.add(subsystem, null);
    }

    /**
     * Exports a subsystem to some hosts. The target does not verify that a host has the name that
     * it states.
     *
     * @param hosts the qualified names of the hosts
     * @throws IllegalArgumentException if a subsystem with the same name is exported
     */
    public void export(Subsystem subsystem, Set<String> hosts) {
        exports.add(subsystem, hosts);
    }

    /** Returns the addresses at which hosts can reach this target. */
    public List<InetSocketAddress> addresses() {
        return listener.localAddresses();
    }

    /** Returns the number of connections of all hosts. */
    public int connections() {
        return connections.size();
    }

    /** Returns the number of connections that an unexpected exception has ended. */
    int failures() {
        return failures.get();
    }

    private void accept() {
        while (!closed) {
            try {
                start(listener.next(POLL));
            } catch (FabricTimeoutException _) {
                // checks whether the target was closed
            } catch (FabricException e) {
                LOG.warn("A connect request failed: {}", e.getMessage());
            } catch (InterruptedIOException | IllegalStateException e) {
                if (!closed) {
                    LOG.error("The target does not accept connections any more", e);
                }
                return;
            }
        }
    }

    private void start(ConnectionRequest request) throws FabricException {
        var decoded = ConnectPrivateData.decode(request.privateData().bytes());
        var rejection =
                decoded.isEmpty()
                        ? Optional.of(RdmaConnectRejection.INVALID_LENGTH)
                        : rejection(decoded.get(), request.peerAddress().getAddress());
        if (rejection.isPresent()) {
            LOG.debug("Rejected {}: {}", request, rejection.get().words());
            request.reject(rejection.get().encode());
            return;
        }
        var queue = decoded.orElseThrow();
        var name =
                "queue %d of %s".formatted(queue.queueId(), AddressText.of(request.peerAddress()));
        var thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("jrdma-nvme-" + name)
                        .unstarted(() -> serve(request, queue, name));
        var host = request.peerAddress().getAddress();
        connections.put(thread, new Served(host, Optional.empty()));
        try {
            thread.start();
        } catch (OutOfMemoryError e) { // the limit of threads
            connections.remove(thread);
            request.reject(RdmaConnectRejection.NO_RESOURCES.encode());
            throw new FabricException("Cannot start a thread for " + name, 0, e);
        }
    }

    private Optional<RdmaConnectRejection> rejection(ConnectPrivateData queue, InetAddress host) {
        var maxCommands =
                queue.queueId() == 0 ? ConnectPrivateData.ADMIN_ENTRIES : options.entries();
        if (queue.format() != 0) {
            return Optional.of(RdmaConnectRejection.INVALID_FORMAT);
        } else if (queue.queueId() > options.ioQueues()) {
            return Optional.of(RdmaConnectRejection.INVALID_QUEUE_ID);
        } else if (queue.commands() < 2 || queue.commands() > maxCommands) {
            return Optional.of(RdmaConnectRejection.INVALID_COMMANDS);
        } else if (queue.receives() < queue.commands() - 1) {
            return Optional.of(RdmaConnectRejection.INVALID_RECEIVES);
        } else if (connections.size() >= options.maxConnections()
                || connections(host) >= options.maxConnectionsOfAHost()) {
            return Optional.of(RdmaConnectRejection.NO_RESOURCES);
        }
        return Optional.empty();
    }

    private long connections(InetAddress host) {
        return connections.values().stream().filter(each -> each.host().equals(host)).count();
    }

    private void serve(ConnectionRequest request, ConnectPrivateData decoded, String name) {
        var thread = Thread.currentThread();
        try (request) {
            var domain = domain(request.deviceName());
            var connection = new TargetConnection(request, domain, decoded, options);
            var queue = new TargetQueueWorker(exports, options, decoded, connection, name);
            var host = request.peerAddress().getAddress();
            connections.put(thread, new Served(host, Optional.of(queue)));
            if (closed) {
                queue.close();
            }
            queue.run();
        } catch (FabricException | InterruptedIOException | IllegalStateException e) {
            if (!closed) {
                LOG.warn("Cannot accept {}: {}", name, e.getMessage());
            }
        } catch (RuntimeException | Error e) {
            var _ = failures.incrementAndGet();
            LOG.error("{} has failed", name, e);
        } finally {
            connections.remove(thread);
        }
    }

    private synchronized ProtectionDomain domain(String deviceName) throws VerbsException {
        var open = devices.get(deviceName);
        if (closed) {
            throw new IllegalStateException("The target is closed");
        }
        if (open == null) {
            var device = verbs.open(deviceName);
            try {
                open = new OpenDevice(device, device.newProtectionDomain());
            } catch (Throwable e) {
                device.close();
                throw e;
            }
            devices.put(deviceName, open);
        }
        return open.domain();
    }

    /** Disconnects all hosts, and waits until the commands that are being executed have ended. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        listener.close();
        connections.values().forEach(each -> each.queue().ifPresent(TargetQueueWorker::close));
        var deadline = System.nanoTime() + STOP_TIMEOUT.toNanos();
        join(acceptor, deadline);
        connections.keySet().forEach(thread -> join(thread, deadline));
        synchronized (this) {
            devices.values().forEach(open -> open.device().close());
            devices.clear();
        }
    }

    /** Waits for a thread, also if the current thread was interrupted before. */
    private static void join(Thread thread, long deadline) {
        var wasInterrupted = Thread.interrupted();
        try {
            while (thread.isAlive() && System.nanoTime() < deadline) {
                try {
                    var _ = thread.join(Duration.ofNanos(deadline - System.nanoTime()));
                } catch (InterruptedException _) {
                    wasInterrupted = true;
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String toString() {
        return "NVMe target at " + AddressText.of(listener.localAddress());
    }
}
