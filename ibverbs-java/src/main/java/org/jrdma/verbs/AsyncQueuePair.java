package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.util.List;
import java.util.Objects;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.MemoryWindow;
import org.jrdma.verbs.memory.Type2Window;
import org.jrdma.verbs.memory.access.MemoryPackageInternals;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.FlushPlacement;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeQueuePair;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * A connected queue pair with asynchronous operations. Each operation posts a request and returns a
 * {@link Transfer}, which the {@link CompletionDispatcher} completes when the request has
 * completed.
 *
 * <p>Safe for use by multiple threads, including virtual threads. If the queue is full, an
 * operation waits for a free slot, up to {@link QueuePairOptions#slotTimeout}. Messages and writes
 * of at most {@link #inlineBytes()} bytes are sent inline, unless the start address of one of their
 * regions is not its virtual address, for example because the region is zero-based.
 */
public final class AsyncQueuePair extends AbstractAsyncQueuePair implements ConnectedQueuePair {

    /** The receive queue number of requests that do not name a shared receive queue of the peer. */
    private static final int NO_QUEUE = -1;

    AsyncQueuePair(Parameters parameters) throws VerbsException {
        super(parameters);
    }

    @Override
    public void connect(Endpoint peer, DirectConnectOptions options) throws VerbsException {
        connectTo(peer, options);
    }

    /**
     * Sends a message, which consumes a receive request of the peer. In C: {@code IBV_WR_SEND}.
     *
     * @throws VerbsException if the request cannot be posted
     */
    public Transfer send(MemorySlice local) throws FabricException, InterruptedIOException {
        return send(List.of(local));
    }

    /** Sends a message gathered from several slices. */
    public Transfer send(List<MemorySlice> local) throws FabricException, InterruptedIOException {
        return send(Operation.SEND, local, NO_QUEUE, 0);
    }

    /**
     * Sends a message with 32 bits of immediate data, which the completion at the peer contains. In
     * C: {@code IBV_WR_SEND_WITH_IMM}.
     */
    public Transfer sendWithImmediate(MemorySlice local, int immediate)
            throws FabricException, InterruptedIOException {
        return send(Operation.SEND_WITH_IMMEDIATE, List.of(local), NO_QUEUE, immediate);
    }

    /**
     * Writes the bytes of {@code local} to remote memory, starting at the first byte of {@code
     * remote}. In C: {@code IBV_WR_RDMA_WRITE}.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     * @throws VerbsException if the request cannot be posted
     */
    public Transfer write(MemorySlice local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        return write(List.of(local), remote);
    }

    /**
     * Writes the bytes of several local slices to remote memory, one after the other, starting at
     * the first byte of {@code remote}.
     */
    public Transfer write(List<MemorySlice> local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        return transfer(Operation.WRITE, local, remote, NO_QUEUE, 0);
    }

    /**
     * Writes the bytes of {@code local} to remote memory, starting at the first byte of {@code
     * remote}, with 32 bits of immediate data. The immediate data consumes a receive request of the
     * peer. In C: {@code IBV_WR_RDMA_WRITE_WITH_IMM}.
     */
    public Transfer writeWithImmediate(MemorySlice local, RemoteMemory remote, int immediate)
            throws FabricException, InterruptedIOException {
        return transfer(
                Operation.WRITE_WITH_IMMEDIATE, List.of(local), remote, NO_QUEUE, immediate);
    }

    /**
     * Reads as many bytes as {@code local} has from remote memory, starting at the first byte of
     * {@code remote}. In C: {@code IBV_WR_RDMA_READ}.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     * @throws UnsupportedOperationException if the connection is unreliable
     * @throws VerbsException if the request cannot be posted
     */
    public Transfer read(MemorySlice local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        return read(List.of(local), remote);
    }

    /**
     * Reads from remote memory, starting at the first byte of {@code remote}, into several local
     * slices, one after the other.
     */
    public Transfer read(List<MemorySlice> local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        queuePair().checkReliable(Operation.READ);
        return transfer(Operation.READ, local, remote, NO_QUEUE, 0);
    }

    /**
     * Replaces the first 8 bytes of remote memory by {@code replacement} if they are equal to
     * {@code expected}. Stores their previous value in {@code result}, in native byte order. In C:
     * {@code IBV_WR_ATOMIC_CMP_AND_SWP}.
     *
     * @throws IllegalArgumentException if the address of the remote memory is not a multiple of 8,
     *     or {@code result} is not 8 bytes long
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public Transfer compareAndSwap(
            MemorySlice result, RemoteMemory remote, long expected, long replacement)
            throws FabricException, InterruptedIOException {
        queuePair().checkReliable(Operation.COMPARE_AND_SWAP);
        return atomic(Operation.COMPARE_AND_SWAP, result, remote, NO_QUEUE, expected, replacement);
    }

    /**
     * Adds {@code delta} to the first 8 bytes of remote memory. Stores their previous value in
     * {@code result}, in native byte order. In C: {@code IBV_WR_ATOMIC_FETCH_AND_ADD}.
     *
     * @throws IllegalArgumentException if the address of the remote memory is not a multiple of 8,
     *     or {@code result} is not 8 bytes long
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public Transfer fetchAndAdd(MemorySlice result, RemoteMemory remote, long delta)
            throws FabricException, InterruptedIOException {
        queuePair().checkReliable(Operation.FETCH_AND_ADD);
        return atomic(Operation.FETCH_AND_ADD, result, remote, NO_QUEUE, delta, 0);
    }

    /**
     * Writes {@code value} to the first 8 bytes of remote memory atomically, in native byte order.
     * In C: {@code ibv_wr_atomic_write}.
     *
     * @throws IllegalArgumentException if the address of the remote memory is not a multiple of 8
     * @throws UnsupportedOperationException if the queue pair was created without {@link
     *     QueuePairOptions#atomicWrites}
     */
    public Transfer atomicWrite(RemoteMemory remote, long value)
            throws FabricException, InterruptedIOException {
        queuePair().checkMadeFor(Operation.ATOMIC_WRITE);
        RequestWriter.checkAtomicTarget(0, remote);
        var request = begin(Operation.ATOMIC_WRITE, List.of());
        try {
            request.atomic(remote.address(), remote.key());
            request.operands(value, 0);
            return new Transfer(sender().post());
        } finally {
            sender().end();
        }
    }

    /**
     * Flushes remote memory: the transfer completes after earlier writes to {@code remote} have
     * become visible or persistent, as selected by {@code placements}. In C: {@code ibv_wr_flush}.
     *
     * @throws IllegalArgumentException if {@code placements} is empty, or {@code remote} has 4 GiB
     *     or more
     * @throws UnsupportedOperationException if the queue pair was created without {@link
     *     QueuePairOptions#flushes}
     */
    public Transfer flush(RemoteMemory remote, FlushPlacement... placements)
            throws FabricException, InterruptedIOException {
        queuePair().checkMadeFor(Operation.FLUSH);
        var placementSet = RequestWriter.placements(placements);
        var request = begin(Operation.FLUSH, List.of());
        try {
            RequestWriter.flushRange(request, remote, 0, remote.length(), placementSet);
            return new Transfer(sender().post());
        } finally {
            sender().end();
        }
    }

    /**
     * Flushes the whole memory region that the key of {@code remote} identifies, even if {@code
     * remote} is only a part of the region.
     */
    public Transfer flushRegion(RemoteMemory remote, FlushPlacement... placements)
            throws FabricException, InterruptedIOException {
        queuePair().checkMadeFor(Operation.FLUSH);
        var placementSet = RequestWriter.placements(placements);
        var request = begin(Operation.FLUSH, List.of());
        try {
            RequestWriter.flushRegion(request, remote, placementSet);
            return new Transfer(sender().post());
        } finally {
            sender().end();
        }
    }

    /**
     * Sends a message whose arrival invalidates a memory window of the peer. {@link
     * PreparedSend#invalidating} describes the requirements. In C: {@code IBV_WR_SEND_WITH_INV}.
     *
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public Transfer sendInvalidating(MemorySlice local, RemoteMemory window)
            throws FabricException, InterruptedIOException {
        queuePair().checkReliable(Operation.SEND_WITH_INVALIDATE);
        var request = begin(Operation.SEND_WITH_INVALIDATE, List.of(local));
        try {
            request.invalidatedKey(window.key());
            return new Transfer(sender().post());
        } finally {
            sender().end();
        }
    }

    /**
     * Binds a window to a whole region; see {@link #bind(MemoryWindow, MemoryRegion, long, long,
     * Access...)}.
     */
    public Transfer bind(MemoryWindow window, MemoryRegion region, Access... rights)
            throws FabricException, InterruptedIOException {
        return bind(window, region, 0, region.length(), rights);
    }

    /**
     * Binds a window to a part of a region. After the transfer has completed, {@link
     * MemoryWindow#remote()} returns the address, key and length that the peer needs to access the
     * window. A length of 0 unbinds a window of type 1. In C: {@code ibv_bind_mw}; for a window of
     * type 2, {@code IBV_WR_BIND_MW}.
     *
     * @param rights the access rights of the peer; {@link PolledQueuePair#prepareBind} lists the
     *     possible rights
     * @throws IndexOutOfBoundsException if the range is not within the region
     * @throws IllegalArgumentException if the window, the region and the queue pair do not belong
     *     to the same protection domain
     */
    public Transfer bind(
            MemoryWindow window, MemoryRegion region, long offset, long length, Access... rights)
            throws FabricException, InterruptedIOException {
        Objects.checkFromIndexSize(offset, length, region.length());
        var bound = MemoryPackageInternals.get().window(window);
        var registration = MemoryPackageInternals.get().registration(region);
        bound.prepare(queuePair().domain(), lifetime(), registration);
        queuePair().checkReceiveQueue(false);
        var access = Access.setOf(rights);
        var shown = region.startAddress() + offset;
        var request = begin(Operation.BIND, List.of(), bound.lifetime(), registration.lifetime());
        try {
            request.immediate(0); // rxe rejects the request without it
            RequestWriter.bind(request, bound, registration, access);
            request.bindRange(shown, length);
            var before = new NativeWindow.State();
            bound.save(before);
            bound.bind(request, access.contains(Access.ZERO_BASED) ? 0 : shown);
            return new Transfer(sender().post(bound, before));
        } finally {
            sender().end();
        }
    }

    /**
     * Unbinds a window, which can then be bound again. The program must not invalidate a window
     * that the peer has already invalidated, because the request would fail and move the queue pair
     * to the error state. In C: {@code IBV_WR_LOCAL_INV}.
     *
     * @throws IllegalStateException if the window is not bound
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public Transfer invalidate(Type2Window window) throws FabricException, InterruptedIOException {
        queuePair().checkReliable(Operation.INVALIDATE);
        var bound = MemoryPackageInternals.get().window(window);
        bound.checkBound();
        var request = begin(Operation.INVALIDATE, List.of(), bound.lifetime());
        try {
            request.invalidatedKey(bound.key());
            var before = new NativeWindow.State();
            bound.save(before);
            bound.unbind();
            return new Transfer(sender().post(bound, before));
        } finally {
            sender().end();
        }
    }

    /**
     * Selects a shared receive queue of the peer, for requests over an extended reliable
     * connection.
     *
     * @param number the {@linkplain SharedReceiveQueue#number number} that the peer announced
     * @throws IllegalArgumentException if {@code number} has more than 24 bits, or this is not the
     *     sending side of an extended reliable connection
     */
    public RemoteReceiveQueue remoteReceiveQueue(int number) {
        queuePair().checkReceiveQueue(true);
        return new RemoteReceiveQueue(NativeQueuePair.checkedReceiveQueue(number));
    }

    /**
     * A shared receive queue of the peer of an extended reliable connection. Messages consume a
     * receive request of the queue. Reads, writes and atomics access memory in the protection
     * domain of the queue. Safe for use by multiple threads.
     */
    public final class RemoteReceiveQueue {

        private final int number;

        private RemoteReceiveQueue(int number) {
            this.number = number;
        }

        /** Sends a message, like {@link AsyncQueuePair#send(MemorySlice)}. */
        public Transfer send(MemorySlice local) throws FabricException, InterruptedIOException {
            return AsyncQueuePair.this.send(Operation.SEND, List.of(local), number, 0);
        }

        /** Sends a message, like {@link AsyncQueuePair#sendWithImmediate}. */
        public Transfer sendWithImmediate(MemorySlice local, int immediate)
                throws FabricException, InterruptedIOException {
            return AsyncQueuePair.this.send(
                    Operation.SEND_WITH_IMMEDIATE, List.of(local), number, immediate);
        }

        /** Writes, like {@link AsyncQueuePair#write(MemorySlice, RemoteMemory)}. */
        public Transfer write(MemorySlice local, RemoteMemory remote)
                throws FabricException, InterruptedIOException {
            return transfer(Operation.WRITE, List.of(local), remote, number, 0);
        }

        /**
         * Writes, like {@link AsyncQueuePair#writeWithImmediate}. The immediate data consumes a
         * receive request of the queue.
         */
        public Transfer writeWithImmediate(MemorySlice local, RemoteMemory remote, int immediate)
                throws FabricException, InterruptedIOException {
            return transfer(
                    Operation.WRITE_WITH_IMMEDIATE, List.of(local), remote, number, immediate);
        }

        /** Reads, like {@link AsyncQueuePair#read(MemorySlice, RemoteMemory)}. */
        public Transfer read(MemorySlice local, RemoteMemory remote)
                throws FabricException, InterruptedIOException {
            return transfer(Operation.READ, List.of(local), remote, number, 0);
        }

        /** Replaces 8 bytes conditionally, like {@link AsyncQueuePair#compareAndSwap}. */
        public Transfer compareAndSwap(
                MemorySlice result, RemoteMemory remote, long expected, long replacement)
                throws FabricException, InterruptedIOException {
            return atomic(
                    Operation.COMPARE_AND_SWAP, result, remote, number, expected, replacement);
        }

        /** Adds to 8 bytes, like {@link AsyncQueuePair#fetchAndAdd}. */
        public Transfer fetchAndAdd(MemorySlice result, RemoteMemory remote, long delta)
                throws FabricException, InterruptedIOException {
            return atomic(Operation.FETCH_AND_ADD, result, remote, number, delta, 0);
        }
    }

    private Transfer send(
            Operation operation, List<MemorySlice> local, int receiveQueue, int immediate)
            throws FabricException, InterruptedIOException {
        queuePair().checkReceiveQueue(receiveQueue != NO_QUEUE);
        var request = begin(operation, local);
        try {
            request.immediate(immediate);
            nameReceiveQueue(request, receiveQueue);
            return new Transfer(sender().post());
        } finally {
            sender().end();
        }
    }

    private Transfer transfer(
            Operation operation,
            List<MemorySlice> local,
            RemoteMemory remote,
            int receiveQueue,
            int immediate)
            throws FabricException, InterruptedIOException {
        RequestWriter.checkRange(0, RequestWriter.totalLength(local), remote);
        queuePair().checkReceiveQueue(receiveQueue != NO_QUEUE);
        var request = begin(operation, local);
        try {
            request.remote(remote.address(), remote.key());
            request.immediate(immediate);
            nameReceiveQueue(request, receiveQueue);
            return new Transfer(sender().post());
        } finally {
            sender().end();
        }
    }

    private Transfer atomic(
            Operation operation,
            MemorySlice result,
            RemoteMemory remote,
            int receiveQueue,
            long compareOrAdd,
            long swap)
            throws FabricException, InterruptedIOException {
        RequestWriter.checkAtomicResult(result.length());
        RequestWriter.checkAtomicTarget(0, remote);
        queuePair().checkReceiveQueue(receiveQueue != NO_QUEUE);
        var request = begin(operation, List.of(result));
        try {
            request.atomic(remote.address(), remote.key());
            request.operands(compareOrAdd, swap);
            nameReceiveQueue(request, receiveQueue);
            return new Transfer(sender().post());
        } finally {
            sender().end();
        }
    }

    private static void nameReceiveQueue(WorkRequest.Send request, int receiveQueue) {
        if (receiveQueue != NO_QUEUE) {
            request.receiveQueue(receiveQueue);
        }
    }
}
