package org.jrdma.nvme.soft;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.ConnectPrivateData;
import org.jrdma.nvme.model.FabricsDataPointer;
import org.jrdma.nvme.model.ResponseCapsule;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRead;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedSend;
import org.jrdma.verbs.PreparedWrite;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.ConnectionRequest;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The connection of one queue: receives capsules, reads and writes data of the host by RDMA, and
 * sends responses. Confined to the thread that creates it.
 */
final class TargetConnection implements AutoCloseable {

    private static final int BATCH = 16;
    private static final int KIND_SHIFT = 32;
    private static final long RECEIVE = 0;
    private static final long READ = 1L << KIND_SHIFT;
    private static final long WRITE = 2L << KIND_SHIFT;
    private static final long RESPONSE = 3L << KIND_SHIFT;

    /** A write of data and a response. */
    private static final int SENDS_PER_RESPONSE = 2;

    private static final RemoteMemory NOTHING = new RemoteMemory(0, 0, 0);

    /** Receives what arrives. */
    interface Handler {
        /** Handles a capsule, whose memory is valid until the response. */
        void arrived(int slot, MemorySegment capsule);

        /** Continues a command whose data have been read. */
        void dataRead(int slot);
    }

    private final int entries;
    private final int capsuleBytes;
    private final RegisteredArena arena;
    private final MemoryRegion capsules;
    private final MemoryRegion responses;
    private final StagingPool staging;
    private final CompletionQueue completions;
    private final CompletionCursor cursor;
    private final Connection<PolledQueuePair> connection;
    private final CompletableFuture<Void> disconnected;
    private final List<PreparedReceive> receives = new ArrayList<>();
    private final List<PreparedSend> sends = new ArrayList<>();
    private final List<PreparedSend> invalidatingSends = new ArrayList<>();
    private final PreparedRead read;
    private final PreparedWrite write;
    private final Deque<Integer> freeResponses = new ArrayDeque<>();

    /** The buffers whose data are being written to the host, by the slot of the response. */
    private final StagingPool.@Nullable Buffer[] writtenBuffers;

    /** Accepts a request. */
    @SuppressWarnings("this-escape") // the receives are posted before the peer can send
    TargetConnection(
            ConnectionRequest request,
            ProtectionDomain domain,
            ConnectPrivateData queue,
            TargetOptions options)
            throws FabricException, InterruptedIOException {
        var isAdmin = queue.queueId() == 0;
        entries = queue.commands();
        capsuleBytes = Command.BYTES + (isAdmin ? 0 : options.inCapsuleBytes());
        var isIwarp = domain.device().description().transportType() == TransportType.IWARP;
        writtenBuffers = new StagingPool.@Nullable Buffer[entries];
        var sendCapacity = SENDS_PER_RESPONSE * entries + StagingPool.buffers(isAdmin);
        // the iWARP standard demands remote write access for the memory into which a read writes
        arena =
                isIwarp
                        ? domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE)
                        : domain.newArena(Access.LOCAL_WRITE);
        try {
            capsules = arena.region((long) capsuleBytes * entries);
            responses = arena.region((long) ResponseCapsule.BYTES * entries);
            staging = new StagingPool(arena, isAdmin);
            completions =
                    domain.device()
                            .newCompletionQueue(
                                    CompletionQueueOptions.capacity(sendCapacity + entries + 1)
                                            .waitable());
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
        try {
            cursor = completions.newCursor(BATCH);
            connection =
                    request.accept(
                            domain,
                            ConnectionOptions.of(
                                            QueuePairOptions.reliable(completions)
                                                    .sends(sendCapacity)
                                                    .receives(entries))
                                    .privateData(ConnectPrivateData.encodeAcceptance(entries))
                                    .prepared(this::postReceives),
                            options.connectTimeout());
            disconnected = connection.disconnected();
            var pair = connection.queuePair();
            for (var slot = 0; slot < entries; slot++) {
                var response =
                        responses.slice((long) slot * ResponseCapsule.BYTES, ResponseCapsule.BYTES);
                sends.add(pair.prepareSend(response).id(RESPONSE | slot));
                invalidatingSends.add(pair.prepareSend(response).id(RESPONSE | slot));
                freeResponses.add(slot);
            }
            read = pair.prepareRead(responses.slice(0, 0), NOTHING);
            write = pair.prepareWrite(responses.slice(0, 0), NOTHING).id(WRITE).signaled(false);
        } catch (Throwable e) {
            completions.close();
            arena.close();
            throw e;
        }
    }

    private void postReceives(PolledQueuePair pair) throws VerbsException {
        for (var slot = 0; slot < entries; slot++) {
            var receive =
                    pair.prepareReceive(capsules.slice((long) slot * capsuleBytes, capsuleBytes))
                            .id(RECEIVE | slot);
            receives.add(receive);
            if (!receive.tryPost()) {
                throw new IllegalStateException("The receive queue is full");
            }
        }
    }

    InetSocketAddress localAddress() {
        return connection.localAddress();
    }

    /** Returns true if the host has disconnected. */
    boolean isDisconnected() {
        return disconnected.isDone();
    }

    /** Waits for completions without taking them. */
    void await(Duration timeout) throws FabricException, InterruptedIOException {
        var _ = cursor.await(timeout);
    }

    /**
     * Handles all completions.
     *
     * @return false if there was none
     * @throws FabricException if a request has failed, which ends the connection
     */
    boolean poll(Handler handler) throws FabricException {
        if (cursor.poll() == 0) {
            return false;
        }
        while (cursor.next()) {
            if (!cursor.isSuccess()) {
                throw new FabricException(
                        "The connection has failed: %s".formatted(cursor.status()));
            }
            var slot = (int) cursor.id();
            var kind = cursor.id() & -1L << KIND_SHIFT;
            if (kind == RECEIVE) {
                if (cursor.bytes() < Command.BYTES) {
                    throw new FabricException(
                            "The host has sent a capsule of %d bytes, which is shorter than a command"
                                    .formatted(cursor.bytes()));
                }
                handler.arrived(
                        slot,
                        capsules.segment().asSlice((long) slot * capsuleBytes, cursor.bytes()));
            } else if (kind == READ) {
                handler.dataRead(slot);
            } else if (kind == RESPONSE) {
                freeResponses.push(slot);
                release(writtenBuffers[slot]);
                writtenBuffers[slot] = null;
            }
        }
        return true;
    }

    private void release(StagingPool.@Nullable Buffer buffer) {
        if (buffer != null) {
            staging.release(buffer);
        }
    }

    /** Allocates the memory for the data of commands, once the host has connected. */
    void allocateBuffers() throws FabricException {
        staging.allocate();
    }

    /** Takes a buffer for a command; returns false if none is free. */
    boolean tryStage(TargetCommand command) {
        var buffer = staging.take(command.stagedBytes());
        command.buffer(buffer);
        return buffer != null;
    }

    /** Starts to read the data of a command into its buffer. */
    void read(TargetCommand command, StagingPool.Buffer buffer) throws FabricException {
        var length = command.pointer().length();
        post(
                read.buffers(buffer.slice().slice(0, length), remote(command.pointer()))
                        .id(READ | command.slot())
                        .tryPost());
    }

    private static RemoteMemory remote(FabricsDataPointer pointer) {
        return new RemoteMemory(pointer.address(), pointer.key(), pointer.length());
    }

    private static void post(boolean isPosted) {
        if (!isPosted) { // the queues have room for all commands and all buffers
            throw new IllegalStateException("The send queue or the receive queue is full");
        }
    }

    /** Returns true if {@link #respond} can be called. */
    boolean canRespond() {
        return !freeResponses.isEmpty();
    }

    /**
     * Writes data to the host, if there are any, and sends the response.
     *
     * @param bytes the number of bytes in the buffer of the command for the host
     */
    void respond(TargetCommand command, int bytes, ResponseCapsule response)
            throws FabricException {
        var slot = freeResponses.pop();
        response.encode(responses.segment(), (long) slot * ResponseCapsule.BYTES);
        post(receives.get(command.slot()).tryPost()); // before the host can send the next command
        var buffer = command.buffer();
        if (buffer != null && bytes > 0) {
            writtenBuffers[slot] = buffer;
            post(
                    write.buffers(buffer.slice().slice(0, bytes), remote(command.pointer()))
                            .tryPost());
        } else {
            release(buffer);
        }
        post(
                (isInvalidated(command)
                                ? invalidatingSends
                                        .get(slot)
                                        .invalidating(remote(command.pointer()))
                                : sends.get(slot))
                        .tryPost());
    }

    /** Ends a command that used no buffer without a response. */
    void drop(TargetCommand command) throws FabricException {
        post(receives.get(command.slot()).tryPost());
    }

    private static boolean isInvalidated(TargetCommand command) {
        return command.buffer() != null
                && command.pointer().kind() == FabricsDataPointer.KEYED_INVALIDATING;
    }

    /** Disconnects and frees all memory. */
    @Override
    public void close() {
        connection.close();
        cursor.close();
        completions.close();
        arena.close();
    }
}
