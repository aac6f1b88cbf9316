package org.jrdma.nvme.soft;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.ConnectPrivateData;
import org.jrdma.nvme.model.FabricsCommand;
import org.jrdma.nvme.model.FabricsCommand.Connect;
import org.jrdma.nvme.model.FabricsDataPointer;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.RdmaConnectRejection;
import org.jrdma.nvme.model.ResponseCapsule;
import org.jrdma.nvme.model.Status;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.Access;

/** One queue of a host that may send anything. */
final class UncheckedHostQueue implements AutoCloseable {

    static final HostIdentifier HOST = new HostIdentifier(25, 7, true);
    static final String HOST_NAME = "nqn.2014-08.org.jrdma:test-host";
    static final int CAPSULE_BYTES = Command.BYTES + 8192;
    static final int DATA_BYTES = 1 << 20;

    /** The number of capsules that can be posted at the same time. */
    private static final int POSTED_CAPSULES = 32;

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final RegisteredArena arena;
    private final CompletionDispatcher completions;
    private final Connection<AsyncQueuePair> connection;
    private final MemoryRegion capsule;
    private final MemoryRegion data;
    private final MemoryRegion postedCapsules;
    private final Deque<Transfer> posted = new ArrayDeque<>();
    private final Deque<MemorySlice> buffers = new ArrayDeque<>();
    private final Deque<Transfer> receives = new ArrayDeque<>();
    private int nextId = 100;
    private int nextCapsule;

    UncheckedHostQueue(
            ConnectionManager manager,
            ProtectionDomain domain,
            InetSocketAddress target,
            byte... privateData)
            throws IOException {
        arena = domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
        capsule = arena.region(CAPSULE_BYTES);
        data = arena.region(DATA_BYTES);
        postedCapsules = arena.region((long) POSTED_CAPSULES * CAPSULE_BYTES);
        var responses = arena.region(64L * ResponseCapsule.BYTES);
        for (var i = 0; i < 64; i++) {
            buffers.add(responses.slice((long) i * ResponseCapsule.BYTES, ResponseCapsule.BYTES));
        }
        completions = domain.device().newCompletionDispatcher(130);
        try {
            connection =
                    manager.connect(
                            target,
                            domain,
                            ConnectionOptions.of(
                                            QueuePairOptions.reliable(completions)
                                                    .sends(64)
                                                    .receives(64))
                                    .privateData(privateData)
                                    .prepared(pair -> {
                                        for (var buffer : buffers) {
                                            receives.add(pair.receive(buffer));
                                        }
                                    }),
                            TIMEOUT);
        } catch (Throwable e) {
            completions.close();
            arena.close();
            throw e;
        }
    }

    static UncheckedHostQueue queue(
            ConnectionManager manager,
            ProtectionDomain domain,
            InetSocketAddress target,
            int id,
            int controllerId)
            throws IOException {
        return new UncheckedHostQueue(
                manager,
                domain,
                target,
                new ConnectPrivateData(0, id, 32, 32, controllerId).encode());
    }

    /** Tries to connect, and returns the reason of the rejection; empty if it was accepted. */
    static Optional<RdmaConnectRejection> rejection(
            ConnectionManager manager,
            ProtectionDomain domain,
            InetSocketAddress target,
            ConnectPrivateData request)
            throws IOException {
        try (var _ = new UncheckedHostQueue(manager, domain, target, request.encode())) {
            return Optional.empty();
        } catch (CmException e) {
            return e.event()
                    .map(ConnectionEvent.Rejected.class::cast)
                    .flatMap(each -> RdmaConnectRejection.decode(each.privateData().bytes()));
        }
    }

    MemorySegment data() {
        return data.segment();
    }

    /** Returns a pointer to the data at offset 0. */
    FabricsDataPointer keyed(int bytes) {
        return new FabricsDataPointer(
                FabricsDataPointer.KEYED, data.startAddress(), bytes, data.remoteKey());
    }

    FabricsDataPointer none() {
        return new FabricsDataPointer(FabricsDataPointer.KEYED, 0, 0, 0);
    }

    MemorySegment capsule() {
        return capsule.segment();
    }

    /** Sends the first bytes of the capsule. */
    void sendCapsule(int bytes) throws IOException {
        var _ = connection.queuePair().send(capsule.slice(0, bytes)).await(TIMEOUT);
    }

    /**
     * Sends the first bytes of the capsule to a target that disconnects because of them, maybe
     * before their acknowledgement arrives.
     */
    void sendInvalidCapsule(int bytes) throws IOException {
        var _ = connection.queuePair().send(capsule.slice(0, bytes)).awaitCompletion(TIMEOUT);
    }

    void send(Command command, int extraBytes) throws IOException {
        command.encode(capsule.segment(), 0);
        sendCapsule(Command.BYTES + extraBytes);
    }

    /** Sends a capsule of any size, and waits only if too many capsules have not been sent. */
    void post(Command command, int bytes) throws IOException {
        if (posted.size() == POSTED_CAPSULES) {
            var _ = posted.remove().await(TIMEOUT);
        }
        var start = (long) nextCapsule * CAPSULE_BYTES;
        nextCapsule = (nextCapsule + 1) % POSTED_CAPSULES;
        command.encode(postedCapsules.segment(), start);
        posted.add(connection.queuePair().send(postedCapsules.slice(start, bytes)));
    }

    /** Waits for a response; empty if the target has disconnected. */
    Optional<ResponseCapsule> receive() throws IOException {
        var completion = receives.remove().awaitCompletion(TIMEOUT);
        var buffer = buffers.remove();
        if (!completion.isSuccess()) {
            return Optional.empty();
        }
        var response = ResponseCapsule.decode(buffer.segment(), 0);
        receives.add(connection.queuePair().receive(buffer));
        buffers.add(buffer);
        return Optional.of(response);
    }

    boolean hasResponse() {
        return receives.getFirst().isCompleted();
    }

    ResponseCapsule execute(Command command, FabricsDataPointer pointer) throws IOException {
        return execute(command, pointer, 0);
    }

    ResponseCapsule execute(Command command, FabricsDataPointer pointer, int extraBytes)
            throws IOException {
        nextId++;
        send(pointer.encode(command).withId(nextId), extraBytes);
        var response = receive().orElseThrow(() -> new IOException("The target has disconnected"));
        if (response.commandId() != nextId) {
            throw new IOException(
                    "Response to %d instead of %d".formatted(response.commandId(), nextId));
        }
        return response;
    }

    Status status(Command command, FabricsDataPointer pointer) throws IOException {
        return status(execute(command, pointer));
    }

    static Status status(ResponseCapsule response) {
        return Status.of(response.status()).orElseThrow();
    }

    ResponseCapsule connect(String subsystem, int queueId, int controllerId, int keepAliveMillis)
            throws IOException {
        return connect(
                new Connect(0, queueId, 32, 0, keepAliveMillis),
                new ConnectData(HOST, controllerId, subsystem, HOST_NAME));
    }

    ResponseCapsule connect(Connect connect, ConnectData connectData) throws IOException {
        connectData.encode(data.segment().asSlice(0, ConnectData.BYTES).fill((byte) 0));
        return execute(connect.encode(), keyed(ConnectData.BYTES));
    }

    static Status fabricsStatus(ResponseCapsule response) {
        return Status.ofFabrics(response.status()).orElseThrow();
    }

    /** Enables the controller of this admin queue. */
    void enable() throws IOException {
        var response =
                execute(
                        FabricsCommand.propertySet(MappedRegisters.CONFIGURATION, 0x460001),
                        none());
        if (response.status() != 0) {
            throw new IOException("Status " + Status.describeFabrics(response.status()));
        }
    }

    /** Waits until the target has disconnected. */
    void awaitDisconnected() throws IOException {
        connection.awaitDisconnected(TIMEOUT);
    }

    /** Disconnects, and waits until the target has confirmed it. */
    void disconnect() throws IOException {
        connection.disconnect(TIMEOUT);
    }

    @Override
    public void close() {
        connection.close();
        completions.close();
        arena.close();
    }
}
