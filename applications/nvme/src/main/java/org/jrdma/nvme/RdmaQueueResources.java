package org.jrdma.nvme;

import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.ConnectPrivateData;
import org.jrdma.nvme.model.ResponseCapsule;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.Access;

/**
 * The memory, the connection and the pending commands of an I/O queue on a network. Does not refer
 * to the {@link RdmaQueue}, because the destructor of the queue uses it.
 */
final class RdmaQueueResources {

    /**
     * The smallest number of entries that a queue announces. The target of Linux allocates its work
     * requests by this number, and never executes a command that needs more of them: with siw, a
     * read of 1 MiB on a queue of eight entries.
     */
    private static final int MIN_ENTRIES = 16;

    private final RdmaController controller;
    private final int id;
    private final int depth;
    private final int inCapsuleBytes;
    private final RegisteredArena arena;
    private final RegisteredArena connectArena;
    private final MemoryRegion capsules;
    private final MemoryRegion responses;
    private final MemoryRegion connectData;
    private final CompletionQueue completions;
    private final PendingCommandMemory held;
    private final Lifetime lifetime;

    /** The current attempt to connect, or the connection. */
    private volatile CompletableFuture<Connection<PolledQueuePair>> connection =
            new CompletableFuture<>();

    private RdmaQueueResources(
            RdmaController controller,
            RdmaControllerSession session,
            int id,
            int depth,
            Lifetime owner)
            throws FabricException {
        this.controller = controller;
        this.id = id;
        this.depth = depth;
        this.inCapsuleBytes = session.inCapsuleBytes();
        this.held = new PendingCommandMemory(depth);
        var domain = controller.domain();
        arena = domain.newArena(Access.LOCAL_WRITE);
        connectArena = domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_READ);
        try {
            capsules = arena.region((long) slots() * capsuleBytes());
            responses = arena.region((long) slots() * ResponseCapsule.BYTES);
            connectData = connectArena.region(ConnectData.BYTES);
            completions =
                    domain.device()
                            .newCompletionQueue(
                                    CompletionQueueOptions.capacity(2 * slots() + 1).waitable());
        } catch (Throwable e) {
            arena.close();
            connectArena.close();
            controller.returnQueueId(id);
            throw e;
        }
        this.lifetime =
                new Lifetime(
                        "I/O queue %d of %s".formatted(id, controller),
                        List.of(owner),
                        this::destroy);
    }

    /**
     * Creates the resources of a queue and connects it to the target.
     *
     * @param id the id of the queue, which is returned to the controller when the queue is closed,
     *     or if this method fails
     * @param owner the lifetime of the drive, which the caller holds
     */
    static RdmaQueueResources create(
            RdmaController controller,
            RdmaControllerSession session,
            int id,
            int depth,
            Lifetime owner)
            throws FabricException {
        var created = new RdmaQueueResources(controller, session, id, depth, owner);
        try {
            created.connection =
                    CompletableFuture.completedFuture(
                            controller
                                    .library()
                                    .connect(
                                            controller.address(),
                                            controller.domain(),
                                            created.options(session),
                                            id,
                                            controller.fabrics().connectTimeout()));
            return created;
        } catch (InterruptedIOException e) {
            created.lifetime.close();
            throw new NvmeException(
                    "Interrupted while waiting for the connection of queue %d of %s"
                            .formatted(id, controller));
        } catch (Throwable e) {
            created.lifetime.close();
            throw e;
        }
    }

    private ConnectionOptions<PolledQueuePair> options(RdmaControllerSession session) {
        var entries = entries(session);
        var request = new ConnectPrivateData(0, id, entries, entries, session.controllerId());
        return ConnectionOptions.of(
                        QueuePairOptions.reliable(completions).sends(slots()).receives(slots()))
                .privateData(request.encode());
    }

    /** Starts to connect the queue again. */
    void reconnect(RdmaControllerSession session) {
        connection =
                controller
                        .library()
                        .connectAsync(
                                controller.address(),
                                controller.domain(),
                                options(session),
                                controller.fabrics().connectTimeout());
    }

    /** Returns the current attempt to connect, or the connection. */
    CompletableFuture<Connection<PolledQueuePair>> connection() {
        return connection;
    }

    /** Ends the connection, after which the target does not access memory by it. */
    void disconnect() {
        var current = connection;
        if (!current.cancel(true) && !current.isCompletedExceptionally()) {
            current.join().close();
        }
    }

    /**
     * Ends the connection. The target does not access the memory of pending commands after that.
     */
    private void destroy() {
        disconnect();
        completions.close();
        connectArena.close();
        arena.close();
        held.releaseAll();
        controller.returnQueueId(id);
    }

    RdmaController controller() {
        return controller;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    int id() {
        return id;
    }

    int depth() {
        return depth;
    }

    /** Returns the number of capsules: one for each command, and one for the Connect command. */
    int slots() {
        return depth + 1;
    }

    /** Returns the number of entries that this queue announces to the target. */
    int entries(RdmaControllerSession session) {
        return Math.min(Math.max(slots(), MIN_ENTRIES), session.capabilities().maxQueueEntries());
    }

    int inCapsuleBytes() {
        return inCapsuleBytes;
    }

    int capsuleBytes() {
        return Command.BYTES + inCapsuleBytes;
    }

    MemoryRegion capsules() {
        return capsules;
    }

    MemoryRegion responses() {
        return responses;
    }

    MemoryRegion connectData() {
        return connectData;
    }

    CompletionQueue completions() {
        return completions;
    }

    PendingCommandMemory held() {
        return held;
    }
}
