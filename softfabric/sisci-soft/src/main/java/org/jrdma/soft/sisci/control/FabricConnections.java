package org.jrdma.soft.sisci.control;

import java.lang.foreign.Arena;
import java.time.Duration;
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
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of a process to the other processes of a fabric, and the thread that receives
 * from all of them. The listener is called on that thread and must not block, because other
 * processes would wait for responses meanwhile. The thread survives every failure, because all
 * objects of the process depend on it.
 */
public final class FabricConnections implements AutoCloseable {

    /** Receives messages and losses of connections. Called on the receiving thread. */
    public interface Listener {
        /**
         * Handles a message other than HELLO and RESPONSE. The descriptor of the message is closed
         * when this method returns: the listener duplicates it if it needs the descriptor. If this
         * method throws OutOfMemoryError, it is called again, except for a request: the listener
         * must respond to it with an error.
         */
        void received(Connection from, Message message);

        /**
         * Handles a connection that was closed because the peer ended or sent a malformed message.
         * If this method throws OutOfMemoryError, it is called again.
         */
        void lost(Connection connection);
    }

    private static final Logger LOG = LoggerFactory.getLogger(FabricConnections.class);
    private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(5);
    private static final int CONNECT_ATTEMPTS = 1_000;
    private static final long CONNECT_PAUSE_NANOS = 1_000_000;

    /**
     * The pause before an action is repeated that failed because memory or descriptors were
     * exhausted.
     */
    private static final int PAUSE_MILLIS = 10;

    /** The maximum number of messages that the thread receives from one connection in a row. */
    private static final int MAX_BATCH = 64;

    private final FabricDirectory directory;
    private final ObjectAnnouncementFile self;
    private final int listening;
    private final RaisableDescriptor wakeUp;

    /** All connections, accepted and outgoing. */
    private final List<Connection> connections = new CopyOnWriteArrayList<>();

    private final Map<ObjectAnnouncementFile, Connection> outgoing = new HashMap<>();
    private final Map<Integer, Request> requests = new ConcurrentHashMap<>();
    private final AtomicInteger lastCorrelation = new AtomicInteger();

    /** The message that is being received. Used only by the receiving thread. */
    private final SeqPacketSocket.Packet packet =
            new SeqPacketSocket.Packet(Message.MAX_BYTES, Arena.ofAuto());

    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    /** False while a pending connection cannot be accepted. Used only by the receiving thread. */
    private boolean canAccept = true;

    /**
     * A request that waits for its response.
     *
     * @param takesDescriptor true if the requester closes the descriptor that the response carries
     */
    private record Request(
            Connection connection,
            boolean takesDescriptor,
            CompletableFuture<Optional<Message>> response) {}

    /**
     * Creates the listening socket of this process. The caller must hold the lock of the directory.
     */
    public FabricConnections(FabricDirectory directory, int node, int member)
            throws FabricException {
        this.directory = directory;
        this.self = ObjectAnnouncementFile.ofMember(node, member);
        this.wakeUp = RaisableDescriptor.open();
        try {
            this.listening = SeqPacketSocket.listen(directory.path(self));
        } catch (Throwable e) {
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
        var entry = ObjectAnnouncementFile.ofMember(node, member);
        for (var attempt = 1; ; attempt++) {
            try {
                return Optional.of(connection(entry));
            } catch (FabricException e) {
                switch (e.code()) {
                    case Errno.ECONNREFUSED, Errno.ENOENT -> {
                        return Optional.empty();
                    }
                    case Errno.EAGAIN -> { // The backlog of the peer is full.
                        if (attempt == CONNECT_ATTEMPTS) {
                            return Optional.empty();
                        }
                        // Pauses without the lock, for which the receiving thread may wait.
                        LockSupport.parkNanos(CONNECT_PAUSE_NANOS);
                    }
                    default -> throw e;
                }
            }
        }
    }

    private Connection connection(ObjectAnnouncementFile entry) throws FabricException {
        synchronized (outgoing) {
            var known = outgoing.get(entry);
            return known == null ? open(entry) : known;
        }
    }

    private Connection open(ObjectAnnouncementFile entry) throws FabricException {
        var socket = SeqPacketSocket.connect(directory.path(entry));
        try {
            var connection = new Connection(this, socket);
            var _ = connection.identify(entry.node(), entry.member());
            connection.send(Message.of(Message.Kind.HELLO, self.node(), self.member(), 0, 0));
            connections.add(connection);
            outgoing.put(entry, connection);
            wake();
            return connection;
        } catch (Throwable e) {
            connections.removeIf(connection -> connection.socket() == socket);
            SystemCalls.close(socket);
            throw e;
        }
    }

    /**
     * Sends a request and waits for the response. Returns empty if the connection is lost, or if no
     * response arrives within 5 s. The caller must close the descriptor of the response to
     * CONNECT_SEGMENT, ATTACH_SEGMENT, CONNECT_DEVICE_SEGMENT and CONNECT_INTERRUPT; other
     * responses carry none.
     */
    public Optional<Message> request(Connection connection, Message request) {
        var takesDescriptor =
                switch (request.kind()) {
                    case CONNECT_SEGMENT,
                            ATTACH_SEGMENT,
                            CONNECT_DEVICE_SEGMENT,
                            CONNECT_INTERRUPT ->
                            true;
                    default -> false;
                };
        var correlation = lastCorrelation.incrementAndGet();
        var response = new CompletableFuture<Optional<Message>>();
        requests.put(correlation, new Request(connection, takesDescriptor, response));
        try {
            if (!connections.contains(connection)) {
                request.discard();
                return Optional.empty();
            }
            connection.send(request.numbered(correlation));
            return await(response);
        } finally {
            requests.remove(correlation);
        }
    }

    /**
     * Waits for a response. An interrupt of the thread neither ends nor extends the wait, and the
     * interrupt status is set again afterwards.
     */
    private static Optional<Message> await(CompletableFuture<Optional<Message>> response) {
        var deadline = Deadline.after(RESPONSE_TIMEOUT);
        var interrupted = false;
        try {
            while (true) {
                try {
                    return response.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    response.complete(Optional.empty()); // The response may arrive at this moment.
                    return response.join();
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
        while (!closed) {
            try {
                poll(receiver);
            } catch (Throwable e) {
                FailureLog.errorAndPause(
                        LOG, "The thread that receives messages failed, and continues", e);
            }
        }
    }

    private void poll(Listener receiver) {
        try (var arena = Arena.ofConfined()) {
            var polled = new ArrayList<>(connections);
            var set = new SeqPacketSocket.Set(polled.size() + 2, arena);
            var woken = set.add(wakeUp.number(), SeqPacketSocket.READABLE);
            // A connection that cannot be accepted would end each wait immediately.
            var accepting = set.add(canAccept ? listening : -1, SeqPacketSocket.READABLE);
            for (var connection : polled) {
                set.add(
                        connection.socket(),
                        (connection.isCongested() ? 0 : SeqPacketSocket.READABLE)
                                | (connection.backlog() > 0 ? SeqPacketSocket.WRITABLE : 0));
            }
            set.await(canAccept ? -1 : PAUSE_MILLIS);
            if (set.isReady(woken, SeqPacketSocket.READABLE)) {
                wakeUp.lower();
            }
            if (!canAccept || set.isReady(accepting, SeqPacketSocket.READABLE)) {
                accept();
            }
            for (var i = 0; i < polled.size() && !closed; i++) {
                if (set.isReady(accepting + 1 + i, SeqPacketSocket.WRITABLE)) {
                    polled.get(i).sendWaiting();
                }
                if (set.isReady(accepting + 1 + i, SeqPacketSocket.READABLE)) {
                    receive(receiver, polled.get(i));
                }
            }
        }
    }

    private void accept() {
        while (true) {
            var socket = SeqPacketSocket.accept(listening);
            if (socket < 0) {
                if (canAccept && socket == SeqPacketSocket.CANNOT_ACCEPT) {
                    LOG.warn(
                            "Cannot accept connections from other processes: the process has no descriptor or no memory for them. Raise its limits; see \"ulimit -n\".");
                }
                canAccept = socket != SeqPacketSocket.CANNOT_ACCEPT;
                return;
            }
            try {
                connections.add(new Connection(this, socket));
            } catch (Throwable e) {
                SystemCalls.close(socket);
                throw e;
            }
        }
    }

    private void receive(Listener receiver, Connection connection) {
        for (var i = 0; i < MAX_BATCH && !closed && !connection.isCongested(); i++) {
            var length = SeqPacketSocket.receive(connection.socket(), packet);
            if (length < 0) {
                return;
            }
            if (!accepts(receiver, connection, length)) {
                if (length > 0) {
                    LOG.warn(
                            "Disconnected from node {}: it sent a malformed message, or runs another release of the software fabric",
                            connection.node());
                }
                lose(receiver, connection);
                return;
            }
        }
    }

    /** The result of handling a message. */
    private enum Outcome {
        /** The peer has ended, or the message is malformed. */
        REJECTED,
        HANDLED,
        /** A waiting requester has taken the descriptor of the message and closes it. */
        DESCRIPTOR_TAKEN
    }

    /**
     * Handles the message in the packet. Returns false if the connection must be closed, because
     * the peer has ended or the message is malformed.
     */
    private boolean accepts(Listener receiver, Connection connection, long length) {
        var descriptor = packet.descriptor();
        var outcome = Outcome.REJECTED;
        try {
            outcome = handleRepeatedly(receiver, connection, length);
            return outcome != Outcome.REJECTED;
        } finally {
            if (outcome != Outcome.DESCRIPTOR_TAKEN
                    && descriptor != SeqPacketSocket.Packet.NO_DESCRIPTOR) {
                SystemCalls.close(descriptor);
            }
        }
    }

    private Outcome handleRepeatedly(Listener receiver, Connection connection, long length) {
        while (true) {
            try {
                return handle(receiver, connection, length);
            } catch (OutOfMemoryError e) {
                pause("Handling a message failed and is repeated", e);
            }
        }
    }

    private Outcome handle(Listener receiver, Connection connection, long length) {
        var read = length == 0 ? Optional.<Message>empty() : Message.read(packet.memory(), length);
        if (read.isEmpty()) {
            return Outcome.REJECTED;
        }
        var message = read.get();
        return switch (message.kind()) {
            case HELLO ->
                    connection.identify(message.subject(), message.first())
                            ? Outcome.HANDLED
                            : Outcome.REJECTED;
            case RESPONSE ->
                    complete(connection, message.withDescriptor(packet.descriptor()))
                            ? Outcome.DESCRIPTOR_TAKEN
                            : Outcome.HANDLED;
            default -> {
                if (connection.member() < 0) {
                    yield Outcome.REJECTED; // If it were lost, the listener would not be notified.
                }
                handle(receiver, connection, message.withDescriptor(packet.descriptor()));
                yield Outcome.HANDLED;
            }
        };
    }

    /**
     * Pauses before an action is repeated that failed because memory was exhausted. Does not pause
     * if this object is closed.
     */
    private void pause(String what, OutOfMemoryError failure) {
        if (closed) {
            throw failure;
        }
        FailureLog.errorAndPause(LOG, what, failure);
    }

    /**
     * Passes a response to the thread that waits for it. Returns true if this thread closes the
     * descriptor of the message.
     */
    private boolean complete(Connection connection, Message message) {
        var request = requests.get(message.correlation());
        if (request == null || request.connection() != connection) {
            return false;
        }
        if (request.takesDescriptor()) {
            return request.response().complete(Optional.of(message));
        }
        var response = message.withDescriptor(SeqPacketSocket.Packet.NO_DESCRIPTOR);
        request.response().complete(Optional.of(response));
        return false;
    }

    private static void handle(Listener receiver, Connection connection, Message message) {
        try {
            receiver.received(connection, message);
        } catch (RuntimeException e) {
            LOG.error("Cannot handle {} from node {}", message, connection.node(), e);
        }
    }

    private void lose(Listener receiver, Connection connection) {
        while (true) {
            try {
                connections.remove(connection);
                synchronized (outgoing) {
                    outgoing.values().remove(connection);
                }
                connection.close();
                for (var request : requests.values()) {
                    if (request.connection() == connection) {
                        request.response().complete(Optional.empty());
                    }
                }
                if (connection.node() != 0) {
                    receiver.lost(connection);
                }
                return;
            } catch (OutOfMemoryError e) {
                pause("Handling the loss of a connection failed and is repeated", e);
            } catch (RuntimeException e) {
                LOG.error(
                        "Cannot handle the loss of a connection to node {}", connection.node(), e);
                return;
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
        SystemCalls.close(listening);
        wakeUp.close();
        for (var connection : connections) {
            connection.close();
        }
        connections.clear();
        for (var request : requests.values()) {
            request.response().complete(Optional.empty());
        }
    }
}
