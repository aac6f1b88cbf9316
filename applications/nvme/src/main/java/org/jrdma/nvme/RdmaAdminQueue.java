package org.jrdma.nvme;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.nvme.model.AdminOpcode;
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

/**
 * The admin queue of a controller on a network: one connection, which executes one command after
 * the other. After a failure or a timeout, the connection is closed, and all further commands fail.
 * Safe for use by multiple threads.
 */
final class RdmaAdminQueue implements AutoCloseable {

    /** The largest data of one command. */
    static final int DATA_BYTES = 1 << 16;

    private static final int SENDS = 2;
    private static final Command KEEP_ALIVE = Command.admin(AdminOpcode.KEEP_ALIVE);

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
        if (isLost()) {
            throw new NvmeException(
                    "%s was not started, because the connection to %s is lost"
                            .formatted(name, controller));
        }
        nextId = (nextId + 1) & 0xffff;
        var pointer =
                new FabricsDataPointer(
                        FabricsDataPointer.KEYED,
                        data.startAddress(),
                        bytes,
                        bytes == 0 ? 0 : data.remoteKey());
        pointer.encode(command.withId(nextId)).encode(capsule.segment(), 0);
        ResponseCapsule response;
        try {
            response = exchange(name, deadline);
        } catch (FabricException | IllegalStateException e) {
            disconnect(); // the response may arrive later
            if (e instanceof FabricException failure) {
                throw failure;
            }
            throw new FabricException("%s was closed during %s".formatted(controller, name), 0, e);
        }
        if (response.commandId() != nextId) {
            disconnect();
            throw new NvmeException(
                    "%s completed the unknown admin command %d instead of %s"
                            .formatted(controller, response.commandId(), name));
        }
        if (response.status() != 0) {
            throw command.opcode() == FabricsCommand.OPCODE
                    ? NvmeException.ofFabrics(name, controller, response.status())
                    : new NvmeException(name, controller, response.status());
        }
        return response.result();
    }

    private ResponseCapsule exchange(String name, Deadline deadline) throws FabricException {
        var pair = connection.queuePair();
        try {
            var sent = pair.send(capsule);
            await(receives.remove(), name, deadline);
            var buffer = buffers.remove();
            var response = ResponseCapsule.decode(buffer.segment(), 0);
            buffers.add(buffer);
            receives.add(pair.receive(buffer));
            await(sent, name, deadline);
            return response;
        } catch (InterruptedIOException e) { // no slot was free, which cannot happen
            throw new NvmeException("Interrupted while posting %s".formatted(name));
        }
    }

    private void await(Transfer transfer, String name, Deadline deadline) throws FabricException {
        while (true) {
            try {
                var _ = transfer.await(Duration.ofNanos(deadline.remainingNanos()));
                return;
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
