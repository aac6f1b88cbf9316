package org.jrdma.nvme;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.FabricsCommand.Connect;
import org.jrdma.nvme.model.FabricsDataPointer;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.Status;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.cm.CmException;
import org.jspecify.annotations.Nullable;

/**
 * An I/O queue of a controller on a network. If the connection is lost, the queue connects again
 * while it is polled, and repeats the pending commands whose outcome is unknown. Only reads,
 * writes, writes of zeroes and flushes are repeated: their repetition has the same effect.
 */
final class RdmaQueue extends NvmeQueue {

    /** The number of failed connections to a controller after which it is considered lost. */
    private static final int MAX_ATTEMPTS = 2;

    private static final long MAX_WAIT_NANOS = 10_000_000;

    private enum State {
        LOST,
        CONNECTING,
        HANDSHAKE,
        LIVE
    }

    private final RdmaQueueResources resources;
    private final RdmaController controller;
    private final MemorySegment capsules;
    private final int capsuleBytes;
    private final int inCapsuleBytes;
    private final int[] opcodes;
    private final int[] lengths;
    private final boolean[] isSent;
    private State state = State.CONNECTING;
    private RdmaControllerSession session;
    private @Nullable RdmaLink link;

    /** Created by the thread that owns the queue. Other threads read it in {@link #endWait()}. */
    private volatile @Nullable CompletionCursor cursor;

    private Deadline handshakeDeadline = Deadline.NEVER;
    private int attempts;

    /** The end of the attempts to connect, which starts with the first failure. */
    private Deadline lossDeadline = Deadline.NEVER;

    private Deadline nextAttempt = Deadline.after(Duration.ZERO);
    private boolean wasLive;
    private @Nullable NvmeException refusal;

    /** The sent commands that are not repeated, and whose failure was not reported yet. */
    private final int[] abandoned;

    private int abandonedCount;

    /**
     * Takes over the resources of a queue.
     *
     * @param session the controller to which the queue is connected
     */
    RdmaQueue(RdmaQueueResources resources, RdmaControllerSession session, int maxTransferBytes) {
        super(
                resources.controller(),
                resources.lifetime(),
                resources.held(),
                resources.depth(),
                maxTransferBytes);
        this.resources = resources;
        this.controller = resources.controller();
        this.session = session;
        this.capsules = resources.capsules().segment();
        this.capsuleBytes = resources.capsuleBytes();
        this.inCapsuleBytes = resources.inCapsuleBytes();
        this.opcodes = new int[resources.depth()];
        this.lengths = new int[resources.depth()];
        this.isSent = new boolean[resources.depth()];
        this.abandoned = new int[resources.depth()];
    }

    @Override
    void send(
            int slot,
            int opcode,
            int namespace,
            long block,
            int dword12,
            @Nullable DmaMemory data,
            long offset,
            int bytes) {
        var start = (long) slot * capsuleBytes;
        var address = 0L;
        var pointer = FabricsDataPointer.keyed(0, 0);
        var length = Command.BYTES;
        if (data != null && IoOpcode.isToController(opcode) && bytes <= inCapsuleBytes) {
            MemorySegment.copy(data.segment(), offset, capsules, start + Command.BYTES, bytes);
            pointer = FabricsDataPointer.inCapsule(bytes);
            length += bytes;
        } else if (data != null) {
            address = data.pageAddress(0) + offset;
            pointer = FabricsDataPointer.keyed(bytes, data.remoteKey());
        }
        Command.encodeBlocks(
                capsules,
                start,
                opcode | FabricsDataPointer.FLAGS << 8,
                slot,
                namespace,
                address,
                pointer,
                block,
                dword12);
        opcodes[slot] = opcode;
        lengths[slot] = length;
        isSent[slot] = false;
        if (state == State.LIVE) {
            trySend(slot);
        }
    }

    private void trySend(int slot) {
        var current = link;
        if (current != null) {
            try {
                isSent[slot] = true;
                current.send(slot, lengths[slot]);
            } catch (FabricException e) {
                lose(e.getMessage());
            }
        }
    }

    @Override
    long poll() throws FabricException {
        if (refusal != null) {
            throw new NvmeException(refusal.getMessage());
        }
        if (abandonedCount > 0) {
            abandonedCount--;
            return abandoned[abandonedCount] | (long) Status.CONNECTION_LOST.encode() << 17;
        }
        var current = link;
        var completions = cursor;
        if (state != State.LIVE || current == null || completions == null) {
            advance();
            return CommandSlots.NOTHING;
        }
        try {
            var last = current.poll(completions);
            if (last == CommandSlots.NOTHING && controller.session() != session) {
                lose("the controller is lost");
            } else if (last != CommandSlots.NOTHING) {
                attempts = 0;
                isSent[Completion.commandId((int) last)] = false;
            }
            return last;
        } catch (FabricException e) {
            lose(e.getMessage());
            return CommandSlots.NOTHING;
        }
    }

    /**
     * Waits for an event of the completion queue, and not for long, because other events change the
     * state of this queue, too.
     */
    @Override
    void awaitCompletion(long maxNanos) throws FabricException {
        var completions = cursor;
        if (state != State.LIVE || completions == null) {
            super.awaitCompletion(maxNanos);
            return;
        }
        try {
            var _ = completions.await(Duration.ofNanos(Math.min(maxNanos, MAX_WAIT_NANOS)));
        } catch (InterruptedIOException e) {
            // the interrupt status is set, which the caller checks
        }
    }

    @Override
    void endWait() {
        var completions = cursor;
        if (completions != null) {
            completions.wake();
        }
    }

    @Override
    public boolean isAbandoned() {
        return false; // a target does not access memory by a connection that has ended
    }

    @Override
    boolean isConnected() {
        return state == State.LIVE;
    }

    /** Ends the connection. A further poll connects again. */
    private void lose(@Nullable String reason) {
        disconnect(reason);
        attempts++;
        if (attempts >= MAX_ATTEMPTS) {
            controller.lose(
                    session,
                    "the connection of %s is lost: %s".formatted(resources.lifetime(), reason));
        }
    }

    /**
     * Ends the connection without losing the controller, which may have other queues. A further
     * poll connects again until the loss timeout.
     */
    private void disconnect(@Nullable String reason) {
        resources.disconnect();
        link = null;
        if (state != State.LIVE) {
            scheduleNextAttempt(reason);
        }
        state = State.LOST;
        for (var slot = 0; slot < isSent.length; slot++) {
            if (isSent[slot] && isPending(slot) && !isRepeatable(opcodes[slot])) {
                abandoned[abandonedCount] = slot;
                abandonedCount++;
            }
            isSent[slot] = false;
        }
    }

    private void scheduleNextAttempt(@Nullable String reason) {
        var options = controller.fabrics();
        nextAttempt = Deadline.after(options.reconnectDelay());
        if (lossDeadline == Deadline.NEVER) {
            lossDeadline = Deadline.after(options.lossTimeout());
        } else if (lossDeadline.hasPassed()) {
            refusal =
                    new NvmeException(
                            "%s could not be connected within %s: %s. Close the queue and create another one."
                                    .formatted(
                                            resources.lifetime(), options.lossTimeout(), reason));
        }
    }

    private static boolean isRepeatable(int opcode) {
        return opcode == IoOpcode.READ
                || opcode == IoOpcode.WRITE
                || opcode == IoOpcode.WRITE_ZEROES
                || opcode == IoOpcode.FLUSH;
    }

    /** Makes a step towards a connected queue. Does not wait. */
    private void advance() throws FabricException {
        switch (state) {
            case LOST -> {
                controller.checkRunning();
                var current = controller.session();
                if (current != null && nextAttempt.hasPassed()) {
                    if (current != session) {
                        attempts = 0;
                        session = current;
                        checkLimits(current);
                    }
                    resources.reconnect(current);
                    state = State.CONNECTING;
                }
            }
            case CONNECTING -> {
                if (resources.connection().isDone()) {
                    connected();
                }
            }
            case HANDSHAKE -> handshake();
            default -> {}
        }
    }

    /** Throws an exception if a controller does not support this queue any more. */
    private void checkLimits(RdmaControllerSession current) throws NvmeException {
        var maxDepth = current.capabilities().maxQueueEntries() - 1;
        if (resources.id() > current.ioQueues()
                || depth() > maxDepth
                || inCapsuleBytes > current.inCapsuleBytes()) {
            refusal =
                    new NvmeException(
                            "%s with the depth %d and %d bytes in a capsule exceeds the new limits of the target: %d queues, the depth %d and %d bytes in a capsule. Close the queue and create another one."
                                    .formatted(
                                            resources.lifetime(),
                                            depth(),
                                            inCapsuleBytes,
                                            current.ioQueues(),
                                            maxDepth,
                                            current.inCapsuleBytes()));
            throw refusal;
        }
    }

    /** Sends the Connect command. */
    private void connected() {
        try {
            if (cursor == null) {
                cursor = resources.completions().newCursor(depth() + 1);
            }
            var pair = resources.connection().join().queuePair();
            var connected =
                    new RdmaLink(pair, resources.capsules(), capsuleBytes, resources.responses());
            link = connected;
            new ConnectData(
                            controller.fabrics().host().identifier(),
                            session.controllerId(),
                            controller.subsystemName(),
                            controller.fabrics().host().name())
                    .encode(resources.connectData().segment());
            var data = resources.connectData();
            new FabricsDataPointer(
                            FabricsDataPointer.KEYED,
                            data.startAddress(),
                            ConnectData.BYTES,
                            data.remoteKey())
                    .encode(
                            new Connect(0, resources.id(), resources.entries(session), 0, 0)
                                    .encode())
                    .withId(depth())
                    .encode(capsules, (long) depth() * capsuleBytes);
            connected.send(depth(), Command.BYTES);
            handshakeDeadline = Deadline.after(controller.fabrics().connectTimeout());
            state = State.HANDSHAKE;
        } catch (CompletionException e) {
            if (e.getCause() instanceof CmException failure
                    && RdmaConnector.explained(failure, controller.address(), resources.id())
                            instanceof NvmeException rejection) {
                disconnect(rejection.getMessage());
            } else {
                lose(e.getMessage());
            }
        } catch (FabricException | IllegalStateException e) {
            lose(e.getMessage());
        }
    }

    private void handshake() {
        var current = link;
        var completions = cursor;
        if (current == null || completions == null) {
            return;
        }
        try {
            var last = current.poll(completions);
            if (last != CommandSlots.NOTHING) {
                finishHandshake(current, Completion.status((int) last));
            } else if (handshakeDeadline.hasPassed()) {
                lose("the target did not respond to the Connect command");
            } else if (controller.session() != session) {
                lose("the controller is lost");
            }
        } catch (FabricException e) {
            lose(e.getMessage());
        }
    }

    private void finishHandshake(RdmaLink current, int status) throws FabricException {
        if (status != 0) {
            var reason =
                    NvmeException.ofFabrics(
                            "connection of queue " + resources.id(), controller.toString(), status);
            if (!wasLive && Status.isRetryUseless(status)) {
                refusal = reason;
            }
            disconnect(reason.getMessage());
            return;
        }
        var _ = RdmaConnector.controllerId(controller.toString(), current.connectResult());
        wasLive = true;
        lossDeadline = Deadline.NEVER;
        state = State.LIVE;
        for (var slot = 0; slot < lengths.length && state == State.LIVE; slot++) {
            if (isPending(slot) && !isAbandoned(slot)) {
                trySend(slot);
            }
        }
    }

    private boolean isAbandoned(int slot) {
        for (var i = 0; i < abandonedCount; i++) {
            if (abandoned[i] == slot) {
                return true;
            }
        }
        return false;
    }
}
