package org.jrdma.nvme;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.ConnectPrivateData;
import org.jrdma.nvme.model.FabricsCommand;
import org.jrdma.nvme.model.FabricsCommand.Connect;
import org.jrdma.nvme.model.FabricsDataPointer;
import org.jrdma.nvme.model.ResponseCapsule;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.Access;
import org.jspecify.annotations.Nullable;

/**
 * The admin queue of a controller on a network: one connection, which executes one command after
 * the other. A request for an event can be pending beside them. After a failure or a timeout, the
 * connection is closed, and all further commands fail. Safe for use by multiple threads.
 */
final class RdmaAdminQueue implements AutoCloseable {

    /** The largest data of one command. */
    static final int DATA_BYTES = 1 << 16;

    private static final int SENDS = 2;
    private static final Command KEEP_ALIVE = Command.admin(AdminOpcode.KEEP_ALIVE);

    /** The id of the request for an event, which no other command has. */
    private static final int EVENT_REQUEST_ID = 0xffff;

    private static final Command EVENT_REQUEST =
            Command.admin(AdminOpcode.ASYNC_EVENT_REQUEST).withId(EVENT_REQUEST_ID);
    private static final String EVENT_REQUEST_NAME = "request for an event";

    private final String controller;
    private final RegisteredArena arena;
    private final RegisteredArena dataArena;
    private final MemorySlice capsule;
    private final MemoryRegion data;
    private final CompletionDispatcher completions;
    private final Connection<AsyncQueuePair> connection;
    private final CompletableFuture<Void> disconnected;
    private final Deque<MemorySlice> buffers = new ArrayDeque<>();
    private final Deque<Transfer> receives = new ArrayDeque<>();
    private final AdminQueueLock lock;
    private int nextId;

    /** True while the controller may respond to a request for an event. Guarded by the lock. */
    private boolean eventRequested;

    /** The response to a request for an event, until it is taken. */
    private final AtomicReference<@Nullable ResponseCapsule> event = new AtomicReference<>();

    private volatile boolean closed;

    /**
     * Connects to a target.
     *
     * @param controller the name of the controller for messages
     */
    @SuppressWarnings("this-escape") // the receives are posted before the peer can send
    RdmaAdminQueue(
            RdmaConnector library,
            ProtectionDomain domain,
            InetSocketAddress address,
            String controller,
            FabricsOptions options)
            throws FabricException, InterruptedIOException {
        this.controller = controller;
        this.lock = new AdminQueueLock(controller);
        arena = domain.newArena(Access.LOCAL_WRITE);
        dataArena = domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
        try {
            capsule = arena.region(Command.BYTES).slice();
            data = dataArena.region(DATA_BYTES);
            var responses =
                    arena.region((long) ConnectPrivateData.ADMIN_ENTRIES * ResponseCapsule.BYTES);
            for (var i = 0; i < ConnectPrivateData.ADMIN_ENTRIES; i++) {
                buffers.add(
                        responses.slice((long) i * ResponseCapsule.BYTES, ResponseCapsule.BYTES));
            }
            completions =
                    domain.device()
                            .newCompletionDispatcher(SENDS + ConnectPrivateData.ADMIN_ENTRIES + 1);
        } catch (Throwable e) {
            dataArena.close();
            arena.close();
            throw e;
        }
        try {
            var request =
                    new ConnectPrivateData(
                            0,
                            0,
                            ConnectPrivateData.ADMIN_ENTRIES,
                            ConnectPrivateData.ADMIN_ENTRIES,
                            0);
            connection =
                    library.connect(
                            address,
                            domain,
                            ConnectionOptions.of(
                                            QueuePairOptions.reliable(completions)
                                                    .sends(SENDS)
                                                    .receives(ConnectPrivateData.ADMIN_ENTRIES))
                                    .privateData(request.encode())
                                    .prepared(this::postReceives),
                            0,
                            options.connectTimeout());
            disconnected = connection.disconnected();
        } catch (Throwable e) {
            completions.close();
            dataArena.close();
            arena.close();
            throw e;
        }
    }

    private void postReceives(AsyncQueuePair pair) throws FabricException, InterruptedIOException {
        for (var buffer : buffers) {
            receives.add(pair.receive(buffer));
        }
    }

    /** Returns true if the target has disconnected, or a command has failed in transport. */
    boolean isLost() {
        return closed || disconnected.isDone();
    }

    /**
     * Makes the connection the admin queue of a new controller.
     *
     * @return the id of the controller
     * @throws NvmeException if the target refuses the host, or asks for authentication
     */
    int connect(String subsystemName, HostIdentity host, int keepAliveMillis, Deadline deadline)
            throws FabricException {
        var connectData =
                new ConnectData(
                        host.identifier(), ConnectData.ANY_CONTROLLER, subsystemName, host.name());
        var result =
                write(
                        "connection to %s as %s".formatted(subsystemName, host.name()),
                        new Connect(0, 0, ConnectPrivateData.ADMIN_ENTRIES, 0, keepAliveMillis)
                                .encode(),
                        ConnectData.BYTES,
                        deadline,
                        connectData::encode);
        return RdmaConnector.controllerId(controller, result);
    }

    /** Reads a property of 64 bits or of 32 bits. */
    long property(String name, int offset, boolean isLong, Deadline deadline)
            throws FabricException {
        return execute("read of " + name, FabricsCommand.propertyGet(offset, isLong), deadline);
    }

    /** Sets a property of 32 bits. */
    void setProperty(String name, int offset, int value, Deadline deadline) throws FabricException {
        var _ = execute("write of " + name, FabricsCommand.propertySet(offset, value), deadline);
    }

    /**
     * Executes a command without data.
     *
     * @param name the command with its values, for messages
     * @return the result
     */
    long execute(String name, Command command, Deadline deadline) throws FabricException {
        lock.lock(name, deadline);
        try {
            return executeNext(name, command, 0, deadline);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Reports to the target that this host is alive. Does nothing while another command is
     * executed.
     *
     * @return false if another command is executed
     */
    boolean tryKeepAlive(Deadline deadline) throws FabricException {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            var _ = executeNext("keep-alive command", KEEP_ALIVE, 0, deadline);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Executes a command that reads data.
     *
     * @param bytes the size of the data, at most {@link #DATA_BYTES}
     * @param decoder decodes the data
     */
    <T> T read(
            String name,
            Command command,
            int bytes,
            Deadline deadline,
            Function<MemorySegment, T> decoder)
            throws FabricException {
        lock.lock(name, deadline);
        try {
            var segment = data.segment().asSlice(0, bytes).fill((byte) 0);
            var _ = executeNext(name, command, bytes, deadline);
            return decoder.apply(segment);
        } finally {
            lock.unlock();
        }
    }

    private long write(
            String name,
            Command command,
            int bytes,
            Deadline deadline,
            Consumer<MemorySegment> encoder)
            throws FabricException {
        lock.lock(name, deadline);
        try {
            encoder.accept(data.segment().asSlice(0, bytes).fill((byte) 0));
            return executeNext(name, command, bytes, deadline);
        } finally {
            lock.unlock();
        }
    }

    /** Executes a command. The thread has locked this queue. */
    private long executeNext(String name, Command command, int bytes, Deadline deadline)
            throws FabricException {
        requireConnected(name);
        nextId = (nextId + 1) % EVENT_REQUEST_ID;
        ResponseCapsule response;
        try {
            send(name, command.withId(nextId), bytes, deadline);
            response = awaitResponse(name, deadline);
        } catch (FabricException | IllegalStateException e) {
            throw disconnected(name, e);
        }
        if (response.commandId() != nextId) {
            throw unexpected(response, name);
        }
        if (response.status() != 0) {
            throw command.opcode() == FabricsCommand.OPCODE
                    ? NvmeException.ofFabrics(name, controller, response.status())
                    : new NvmeException(name, controller, response.status());
        }
        return response.result();
    }

    /**
     * Asks the controller to report one event, at any later time. A request that is pending
     * remains.
     */
    void requestEvent(Deadline deadline) throws FabricException {
        lock.lock(EVENT_REQUEST_NAME, deadline);
        try {
            requireConnected(EVENT_REQUEST_NAME);
            if (!eventRequested) {
                eventRequested = true;
                send(EVENT_REQUEST_NAME, EVENT_REQUEST, 0, deadline);
            }
        } catch (IllegalStateException | FabricException e) {
            throw disconnected(EVENT_REQUEST_NAME, e);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes the event that the controller has reported. Does not wait.
     *
     * @return empty if there is none
     * @throws NvmeException if the controller has refused to report events
     */
    Optional<AsyncEvent> takeEvent(Deadline deadline) throws FabricException {
        if (lock.tryLock()) { // otherwise, the thread of another command receives the event
            try {
                receiveEvent(deadline);
            } finally {
                lock.unlock();
            }
        }
        var response = event.getAndSet(null);
        if (response != null && response.status() != 0) {
            throw new NvmeException(EVENT_REQUEST_NAME, controller, response.status());
        }
        return Optional.ofNullable(response)
                .map(reported -> AsyncEvent.decode((int) reported.result()));
    }

    /** Receives a response if there is one while no command is pending. The thread has the lock. */
    private void receiveEvent(Deadline deadline) throws FabricException {
        if (isLost() || !receives.getFirst().isCompleted()) {
            return;
        }
        ResponseCapsule response;
        try {
            response = receive(EVENT_REQUEST_NAME, deadline);
        } catch (FabricException | IllegalStateException e) {
            throw disconnected(EVENT_REQUEST_NAME, e);
        }
        if (!keepIfEvent(response)) {
            throw unexpected(response, EVENT_REQUEST_NAME);
        }
    }

    private void requireConnected(String name) throws NvmeException {
        if (isLost()) {
            throw new NvmeException(
                    "%s was not started, because the connection to %s is lost"
                            .formatted(name, controller));
        }
    }

    /** Ends the connection after a failure, because the response may arrive later. */
    private FabricException disconnected(String name, Exception failure) {
        disconnect();
        return failure instanceof FabricException known
                ? known
                : new FabricException(
                        "%s was closed during %s".formatted(controller, name), 0, failure);
    }

    /** Ends the connection after the response to a command that is not pending. */
    private NvmeException unexpected(ResponseCapsule response, String name) {
        disconnect();
        return new NvmeException(
                "%s completed the unknown admin command %d instead of %s"
                        .formatted(controller, response.commandId(), name));
    }

    private void send(String name, Command command, int bytes, Deadline deadline)
            throws FabricException {
        var pointer =
                new FabricsDataPointer(
                        FabricsDataPointer.KEYED,
                        data.startAddress(),
                        bytes,
                        bytes == 0 ? 0 : data.remoteKey());
        pointer.encode(command).encode(capsule.segment(), 0);
        try {
            var _ = await(connection.queuePair().send(capsule), name, deadline);
        } catch (InterruptedIOException e) {
            throw interruptedPost(name, e);
        }
    }

    /** Waits for the response to a command. Keeps an event that arrives before it. */
    private ResponseCapsule awaitResponse(String name, Deadline deadline) throws FabricException {
        var response = receive(name, deadline);
        return keepIfEvent(response) ? receive(name, deadline) : response;
    }

    /** Returns true if a response was the report of an event. */
    private boolean keepIfEvent(ResponseCapsule response) {
        if (!eventRequested || response.commandId() != EVENT_REQUEST_ID) {
            return false;
        }
        eventRequested = false;
        event.set(response);
        return true;
    }

    private ResponseCapsule receive(String name, Deadline deadline) throws FabricException {
        var bytes = await(receives.remove(), name, deadline);
        if (bytes != ResponseCapsule.BYTES) {
            throw new NvmeException(
                    "%s sent a response of %d bytes instead of %d during %s"
                            .formatted(controller, bytes, ResponseCapsule.BYTES, name));
        }
        var buffer = buffers.remove();
        var response = ResponseCapsule.decode(buffer.segment(), 0);
        buffers.add(buffer);
        try {
            receives.add(connection.queuePair().receive(buffer));
        } catch (InterruptedIOException e) {
            throw interruptedPost(name, e);
        }
        return response;
    }

    /** Describes an interrupt while no slot was free, which cannot happen. */
    private static NvmeException interruptedPost(String name, InterruptedIOException cause) {
        var failure = new NvmeException("Interrupted while posting %s".formatted(name));
        failure.addSuppressed(cause);
        return failure;
    }

    /** Waits for a transfer, and returns the number of bytes that were received. */
    private int await(Transfer transfer, String name, Deadline deadline) throws FabricException {
        while (true) {
            try {
                return transfer.await(Duration.ofNanos(deadline.remainingNanos())).bytes();
            } catch (FabricTimeoutException e) {
                throw deadline.missed("%s did not complete %s".formatted(controller, name), e);
            } catch (InterruptedIOException _) {
                if (ThreadInterruptDeferral.endWait()) {
                    throw lock.interrupted(name);
                }
            }
        }
    }

    /** Ends the connection, which makes all further commands fail. */
    void disconnect() {
        closed = true;
        connection.close();
    }

    /** Ends the connection and frees all memory. Commands of other threads fail. */
    @Override
    public void close() {
        disconnect();
        completions.close();
        dataArena.close();
        arena.close();
    }
}
