package org.jrdma.nvme;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.Lifetime;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shares a controller with other processes and hosts. A client, which {@link Nvme#join} opens,
 * borrows the same controller, and requests queues in memory of its own. The manager owns the admin
 * queue, and creates and deletes the queues of its clients. It takes no part in their I/O. When the
 * connection to a client ends, for example because its process was killed, the manager deletes the
 * queues of the client.
 *
 * <p>The manager checks each request. A queue must not overlap memory of the manager or queues of
 * other clients. The manager does not know to which client an address belongs: if the host of the
 * drive does not separate the borrowers, as the software controller does, then a client can direct
 * the drive to memory of another client. Every program that can connect to the address is a client.
 * Therefore, use a Unix-domain socket in a directory with suitable permissions, or a network of
 * trusted hosts.
 *
 * <p>Owned by its {@link NvmeDrive}. Safe for use by multiple threads.
 */
public final class SharedControllerManager implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SharedControllerManager.class);
    private static final int MAX_CLIENTS = 256;
    private static final long FAILURE_PAUSE_NANOS = 100_000_000;

    private final Server server;
    private final Lifetime lifetime;

    @SuppressWarnings("this-escape") // Leaks registers this object but does not use it
    private SharedControllerManager(Server server, Lifetime owner) {
        this.server = server;
        this.lifetime = new Lifetime(server.toString(), List.of(owner), server::close);
        Leaks.watch(this, lifetime.toString(), lifetime);
    }

    /**
     * Starts to accept clients.
     *
     * @param drive a drive that {@link Nvme#open} has opened
     * @param address the address to listen on, of the network or of a Unix-domain socket. The file
     *     of a Unix-domain socket must not exist, and is deleted when the manager is closed
     * @throws IOException if the address cannot be used
     * @throws IllegalArgumentException if the drive belongs to another manager
     * @throws IllegalStateException if the drive is closed
     */
    public static SharedControllerManager start(NvmeDrive drive, SocketAddress address)
            throws IOException {
        if (!(drive.controller() instanceof AdministeredController controller)) {
            throw new IllegalArgumentException(
                    "%s belongs to another manager. Only the program that opened the controller can share it."
                            .formatted(drive));
        }
        try (var _ = drive.lifetime().held()) {
            var channel =
                    address instanceof UnixDomainSocketAddress
                            ? ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                            : ServerSocketChannel.open();
            Server server;
            try {
                server = new Server(controller, channel.bind(address), channel.getLocalAddress());
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
            var manager = new SharedControllerManager(server, drive.lifetime());
            server.start();
            return manager;
        }
    }

    /** Returns the address on which this manager listens. */
    public SocketAddress address() {
        return server.address;
    }

    /** Returns the number of clients. */
    public int clients() {
        return server.clients.size();
    }

    /** Returns the number of queue pairs of all clients. */
    public int queues() {
        return server.queues.count();
    }

    /**
     * Disconnects all clients and deletes their queues. Waits for the admin commands of the
     * clients. Their pending I/O commands do not complete: close the drives of the clients first.
     */
    @Override
    public void close() {
        lifetime.close();
    }

    /** Returns the name of the manager for messages. */
    @Override
    public String toString() {
        return lifetime.toString();
    }

    /** The threads of a manager. Does not refer to the manager, whose destructor uses it. */
    private static final class Server {

        private final AdministeredController controller;
        private final ServerSocketChannel listener;
        private final SocketAddress address;
        private final ManagerClientQueues queues;
        private final Map<ManagerClientSession, Thread> clients = new ConcurrentHashMap<>();
        private final Thread acceptor =
                Thread.ofVirtual().name("nvme-manager").unstarted(this::acceptClients);

        Server(
                AdministeredController controller,
                ServerSocketChannel listener,
                SocketAddress address) {
            this.controller = controller;
            this.listener = listener;
            this.address = address;
            this.queues = new ManagerClientQueues(controller);
        }

        void start() {
            acceptor.start();
        }

        private void acceptClients() {
            while (listener.isOpen()) {
                try {
                    accept(listener.accept());
                } catch (ClosedChannelException _) {
                    return; // the manager is being closed
                } catch (IOException e) {
                    LOG.warn("{} cannot accept a client: {}", this, e.getMessage());
                    LockSupport.parkNanos(FAILURE_PAUSE_NANOS);
                }
            }
        }

        private void accept(SocketChannel channel) throws IOException {
            if (clients.size() >= MAX_CLIENTS) {
                LOG.warn("{} refused a client, because it has {} clients", this, MAX_CLIENTS);
                channel.close();
                return;
            }
            var client = new ManagerClientSession(controller, queues, channel);
            var thread =
                    Thread.ofVirtual()
                            .name("nvme-manager-client")
                            .unstarted(() -> {
                                try {
                                    client.serve();
                                } finally {
                                    clients.remove(client);
                                }
                            });
            clients.put(client, thread);
            thread.start();
        }

        /** Disconnects the clients, and waits until their threads have deleted their queues. */
        void close() {
            closeListener();
            join(acceptor);
            var threads = List.copyOf(clients.values());
            clients.keySet().forEach(ManagerClientSession::disconnect);
            threads.forEach(Server::join);
        }

        private void closeListener() {
            try {
                listener.close();
                if (address instanceof UnixDomainSocketAddress file) {
                    var _ = Files.deleteIfExists(file.getPath());
                }
            } catch (IOException e) {
                LOG.warn("Cannot close the address of {}", this, e);
            }
        }

        private static void join(Thread thread) {
            var wasInterrupted = false;
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException _) {
                    wasInterrupted = true;
                }
            }
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public String toString() {
            return "NVMe manager of %s at %s".formatted(controller, AddressText.of(address));
        }
    }
}
