package org.jrdma.soft.sisci.control;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.EventDescriptor;
import org.jrdma.soft.sisci.host.Host;
import org.jrdma.soft.sisci.host.PacketSocket;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of a process, and the thread that receives from all of them. The listener is
 * called on that thread and must not block, because other processes would wait for responses
 * meanwhile.
 */
public final class ConnectionManager implements AutoCloseable {

    /** Receives messages and losses of connections. Called on the receiving thread. */
    public interface Listener {
        /** Handles a message other than HELLO and RESPONSE. */
        void received(Connection from, Message message);

        /**
         * Handles a connection that was closed because the peer ended or sent a malformed message.
         */
        void lost(Connection connection);
    }

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionManager.class);
    private static final long RESPONSE_TIMEOUT_SECONDS = 5;
    private static final int CONNECT_ATTEMPTS = 1_000;
    private static final long CONNECT_PAUSE_NANOS = 1_000_000;

    private final FabricDirectory directory;
    private final Entry self;
    private final int listening;
    private final EventDescriptor wakeUp;

    /** All connections, accepted and outgoing. */
    private final List<Connection> connections = new CopyOnWriteArrayList<>();

    private final Map<Entry, Connection> outgoing = new HashMap<>();
    private final Map<Integer, Request> requests = new ConcurrentHashMap<>();
    private final AtomicInteger lastCorrelation = new AtomicInteger();
    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    private record Request(Connection connection, CompletableFuture<Optional<Message>> response) {}

    /**
     * Creates the listening socket of this process. The caller must hold the lock of the directory.
     */
    public ConnectionManager(FabricDirectory directory, int node, int member)
            throws FabricException {
        this.directory = directory;
        this.self = Entry.ofMember(node, member);
        this.wakeUp = EventDescriptor.open();
        try {
            this.listening = PacketSocket.listen(directory.path(self));
        } catch (FabricException e) {
            wakeUp.close();
            throw e;
        }
    }

    /** Starts to accept connections and to receive messages. */
    public void start(Listener receiver) {
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("sisci-soft-node-" + self.node())
                        .start(() -> run(receiver));
    }

    /**
     * Returns the connection to a process, and creates the connection if it does not exist. Returns
     * empty if the process has ended, or if its backlog remains full for about 1 s.
     */
    public Optional<Connection> connect(int node, int member) throws FabricException {
        var entry = Entry.ofMember(node, member);
        synchronized (outgoing) {
            var known = outgoing.get(entry);
            if (known != null) {
                return Optional.of(known);
            }
            for (var attempt = 1; ; attempt++) {
                try {
                    var connection =
                            new Connection(this, PacketSocket.connect(directory.path(entry)));
                    connection.identify(node, member);
                    connection.send(
                            Message.of(Message.Kind.HELLO, self.node(), self.member(), 0, 0));
                    outgoing.put(entry, connection);
                    connections.add(connection);
                    wake();
                    return Optional.of(connection);
                } catch (FabricException e) {
                    switch (e.code()) {
                        case Errno.ECONNREFUSED, Errno.ENOENT -> {
                            return Optional.empty();
                        }
                        case Errno.EAGAIN -> { // the backlog of the peer is full
                            if (attempt == CONNECT_ATTEMPTS) {
                                return Optional.empty();
                            }
                            LockSupport.parkNanos(CONNECT_PAUSE_NANOS);
                        }
                        default -> throw e;
                    }
                }
            }
        }
    }

    /**
     * Sends a request and waits for the response. Returns empty if the connection is lost, or if no
     * response arrives within 5 s.
     */
    public Optional<Message> request(Connection connection, Message request) {
        var correlation = lastCorrelation.incrementAndGet();
        var response = new CompletableFuture<Optional<Message>>();
        requests.put(correlation, new Request(connection, response));
        try {
            if (!connections.contains(connection)) {
                return Optional.empty();
            }
            connection.send(request.numbered(correlation));
            return await(response);
        } finally {
            requests.remove(correlation);
        }
    }

    /**
     * Waits for a response. An interrupt of the thread does not end the wait, and the interrupt
     * status is set again afterwards.
     */
    private static Optional<Message> await(CompletableFuture<Optional<Message>> response) {
        var interrupted = false;
        try {
            while (true) {
                try {
                    return response.get(RESPONSE_TIMEOUT_SECONDS, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    return Optional.empty();
                } catch (ExecutionException e) {
                    throw new AssertionError(e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    void wake() {
        if (!closed) {
            wakeUp.raise();
        }
    }

    private void run(Listener receiver) {
        try (var arena = Arena.ofConfined()) {
            var buffer = arena.allocate(Message.MAX_BYTES, 8);
            while (!closed) {
                poll(receiver, buffer);
            }
        }
    }

    private void poll(Listener receiver, MemorySegment buffer) {
        try (var arena = Arena.ofConfined()) {
            var polled = new ArrayList<>(connections);
            var set = new PacketSocket.Set(polled.size() + 2, arena);
            var woken = set.add(wakeUp.number(), PacketSocket.READABLE);
            var accepting = set.add(listening, PacketSocket.READABLE);
            for (var connection : polled) {
                set.add(
                        connection.socket(),
                        PacketSocket.READABLE
                                | (connection.backlog() > 0 ? PacketSocket.WRITABLE : 0));
            }
            set.await();
            if (set.isReady(woken, PacketSocket.READABLE)) {
                wakeUp.lower();
            }
            if (set.isReady(accepting, PacketSocket.READABLE)) {
                accept();
            }
            for (var i = 0; i < polled.size() && !closed; i++) {
                if (set.isReady(accepting + 1 + i, PacketSocket.WRITABLE)) {
                    polled.get(i).sendWaiting();
                }
                if (set.isReady(accepting + 1 + i, PacketSocket.READABLE)) {
                    receive(receiver, polled.get(i), buffer);
                }
            }
        }
    }

    private void accept() {
        for (var socket = PacketSocket.accept(listening);
                socket >= 0;
                socket = PacketSocket.accept(listening)) {
            connections.add(new Connection(this, socket));
        }
    }

    private void receive(Listener receiver, Connection connection, MemorySegment buffer) {
        for (var length = PacketSocket.receive(connection.socket(), buffer);
                length >= 0 && !closed;
                length = PacketSocket.receive(connection.socket(), buffer)) {
            var message = length == 0 ? Optional.<Message>empty() : Message.read(buffer, length);
            if (message.isEmpty()) {
                if (length > 0) {
                    LOG.warn(
                            "Disconnected from node {}: it sent a malformed message, or runs another release of the software fabric",
                            connection.node());
                }
                lose(receiver, connection);
                return;
            }
            dispatch(receiver, connection, message.get());
        }
    }

    private void dispatch(Listener receiver, Connection connection, Message message) {
        switch (message.kind()) {
            case HELLO -> connection.identify(message.subject(), message.first());
            case RESPONSE -> {
                var request = requests.get(message.correlation());
                if (request != null) {
                    request.response().complete(Optional.of(message));
                }
            }
            default -> {
                try {
                    receiver.received(connection, message);
                } catch (RuntimeException e) {
                    LOG.error("Cannot handle {} from node {}", message, connection.node(), e);
                }
            }
        }
    }

    private void lose(Listener receiver, Connection connection) {
        connections.remove(connection);
        synchronized (outgoing) {
            outgoing.values().remove(connection);
        }
        connection.close();
        Host.close(connection.socket());
        for (var request : requests.values()) {
            if (request.connection() == connection) {
                request.response().complete(Optional.empty());
            }
        }
        if (connection.node() != 0) {
            try {
                receiver.lost(connection);
            } catch (RuntimeException e) {
                LOG.error(
                        "Cannot handle the loss of a connection to node {}", connection.node(), e);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        wakeUp.raise();
        while (thread != null && thread.isAlive() && Thread.currentThread() != thread) {
            LockSupport.parkNanos(100_000);
        }
        Host.close(listening);
        for (var connection : connections) {
            connection.close();
            Host.close(connection.socket());
        }
        connections.clear();
        for (var request : requests.values()) {
            request.response().complete(Optional.empty());
        }
        wakeUp.close();
    }
}
