package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.util.List;
import java.util.Objects;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.internal.Codes;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.FlushPlacement;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * A connected queue pair whose operations are awaited: each is posted at once and gives a {@link
 * Transfer}, which its {@link CompletionDispatcher} completes.
 *
 * <p>Any number of threads, virtual ones too, may use it. An operation that finds its queue full
 * waits for a free slot, as long as {@link QueuePairOptions#slotTimeout} says. Messages and writes
 * that fit are sent inline.
 */
public final class AsyncQueuePair extends AsyncTwoWayEnd implements ConnectedQueuePair {

    /** The peer has one, and no request says which. */
    private static final int NO_QUEUE = 0;

    AsyncQueuePair(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairOptions<AsyncQueuePair> options)
            throws VerbsException {
        super(domain, completions, options);
    }

    @Override
    public void connect(Endpoint peer, ConnectOptions options) throws VerbsException {
        connectTo(peer, options);
    }

    /**
     * Sends a message, which takes up a receive of the peer's. In C: {@code IBV_WR_SEND}.
     *
     * @throws VerbsException if it cannot be posted
     */
    public Transfer send(MemorySlice local) throws FabricException, InterruptedIOException {
        return send(List.of(local));
    }

    /** Sends a message gathered from pieces. */
    public Transfer send(List<MemorySlice> local) throws FabricException, InterruptedIOException {
        return post(Operation.SEND, local, request -> {});
    }

    /**
     * Sends a message with 32 bits along, which the peer finds in its completion. In C: {@code
     * IBV_WR_SEND_WITH_IMM}.
     */
    public Transfer sendWithImmediate(MemorySlice local, int immediate)
            throws FabricException, InterruptedIOException {
        return post(
                Operation.SEND_WITH_IMMEDIATE,
                List.of(local),
                request -> request.immediate(immediate));
    }

    /**
     * Writes the beginning of the peer's memory. In C: {@code IBV_WR_RDMA_WRITE}.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     * @throws VerbsException if it cannot be posted
     */
    public Transfer write(MemorySlice local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        return write(List.of(local), remote);
    }

    /** Writes the beginning of the peer's memory, gathered from pieces. */
    public Transfer write(List<MemorySlice> local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        return transfer(Operation.WRITE, local, remote, 0, NO_QUEUE);
    }

    /**
     * Writes the beginning of the peer's memory, with 32 bits along that take up a receive of the
     * peer's. In C: {@code IBV_WR_RDMA_WRITE_WITH_IMM}.
     */
    public Transfer writeWithImmediate(MemorySlice local, RemoteMemory remote, int immediate)
            throws FabricException, InterruptedIOException {
        return transfer(
                Operation.WRITE_WITH_IMMEDIATE, List.of(local), remote, immediate, NO_QUEUE);
    }

    /**
     * Reads the beginning of the peer's memory, as much as {@code local} holds. In C: {@code
     * IBV_WR_RDMA_READ}.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     * @throws UnsupportedOperationException if the connection is unreliable
     * @throws VerbsException if it cannot be posted
     */
    public Transfer read(MemorySlice local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        return read(List.of(local), remote);
    }

    /** Reads the beginning of the peer's memory, scattered to pieces. */
    public Transfer read(List<MemorySlice> local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        checkReliable("READ");
        return transfer(Operation.READ, local, remote, 0, NO_QUEUE);
    }

    /**
     * Replaces the first 8 bytes of the peer's memory if they are {@code expected}; what they were
     * comes to {@code result}, in this machine's byte order. In C: {@code
     * IBV_WR_ATOMIC_CMP_AND_SWP}.
     *
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public Transfer compareAndSwap(
            MemorySlice result, RemoteMemory remote, long expected, long replacement)
            throws FabricException, InterruptedIOException {
        checkReliable("COMPARE_AND_SWAP");
        return atomic(Operation.COMPARE_AND_SWAP, result, remote, expected, replacement, NO_QUEUE);
    }

    /**
     * Adds to the first 8 bytes of the peer's memory; what they were comes to {@code result}, in
     * this machine's byte order. In C: {@code IBV_WR_ATOMIC_FETCH_AND_ADD}.
     *
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public Transfer fetchAndAdd(MemorySlice result, RemoteMemory remote, long delta)
            throws FabricException, InterruptedIOException {
        checkReliable("FETCH_AND_ADD");
        return atomic(Operation.FETCH_AND_ADD, result, remote, delta, 0, NO_QUEUE);
    }

    /**
     * Writes the first 8 bytes of the peer's memory at once, in this machine's byte order. In C:
     * {@code ibv_wr_atomic_write}.
     *
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8
     * @throws UnsupportedOperationException if it was made without {@link
     *     QueuePairOptions#atomicWrites}
     */
    public Transfer atomicWrite(RemoteMemory remote, long value)
            throws FabricException, InterruptedIOException {
        checkMadeFor(Operation.ATOMIC_WRITE);
        RemoteBounds.checkAtomicTarget(0, remote);
        return post(
                Operation.ATOMIC_WRITE,
                List.of(),
                request -> {
                    request.atomic(remote.address(), remote.key());
                    request.operands(value, 0);
                });
    }

    /**
     * Brings what was written into the peer's memory before to where it is visible, or persistent.
     * In C: {@code ibv_wr_flush}.
     *
     * @throws IllegalArgumentException if no placement is named, or the memory has 4 GiB or more
     * @throws UnsupportedOperationException if it was made without {@link QueuePairOptions#flushes}
     */
    public Transfer flush(RemoteMemory remote, FlushPlacement... placements)
            throws FabricException, InterruptedIOException {
        checkMadeFor(Operation.FLUSH);
        var asked = PreparedFlush.placements(placements);
        return post(
                Operation.FLUSH,
                List.of(),
                request -> PreparedFlush.writeRange(request, remote, 0, remote.length(), asked));
    }

    /** The same for all of the region that the peer's key is of. */
    public Transfer flushRegion(RemoteMemory remote, FlushPlacement... placements)
            throws FabricException, InterruptedIOException {
        checkMadeFor(Operation.FLUSH);
        var asked = PreparedFlush.placements(placements);
        return post(
                Operation.FLUSH,
                List.of(),
                request -> PreparedFlush.writeRegion(request, remote, asked));
    }

    /**
     * Sends a message that takes a window of the peer's away when it has arrived; as {@link
     * PreparedSend#invalidating}. In C: {@code IBV_WR_SEND_WITH_INV}.
     *
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public Transfer sendInvalidating(MemorySlice local, RemoteMemory window)
            throws FabricException, InterruptedIOException {
        checkReliable(Operation.SEND_WITH_INVALIDATE.name());
        return post(
                Operation.SEND_WITH_INVALIDATE,
                List.of(local),
                request -> request.invalidatedKey(window.key()));
    }

    /**
     * Lets a window show all of a region; as {@link #bind(MemoryWindow, MemoryRegion, long, long,
     * Access...)}.
     */
    public Transfer bind(MemoryWindow window, MemoryRegion region, Access... rights)
            throws FabricException, InterruptedIOException {
        return bind(window, region, 0, region.length(), rights);
    }

    /**
     * Lets a window show a part of a region. When that is done, {@link MemoryWindow#remote()} is
     * what the peer needs. No bytes make a window of type 1 show nothing. In C: {@code
     * ibv_bind_mw}, or {@code IBV_WR_BIND_MW} for a window of type 2.
     *
     * @param rights as for {@link PolledQueuePair#prepareBind}
     * @throws IndexOutOfBoundsException if the part is not within the region
     * @throws IllegalArgumentException if the three are not of one domain
     */
    public Transfer bind(
            MemoryWindow window, MemoryRegion region, long offset, long length, Access... rights)
            throws FabricException, InterruptedIOException {
        Objects.checkFromIndexSize(offset, length, region.length());
        window.prepare(this, region);
        var access = Access.setOf(rights);
        var shown = region.startAddress() + offset;
        return post(
                Operation.BIND,
                window::post,
                List.of(),
                request -> {
                    request.immediate(0); // which rxe wants
                    request.bind(window.address(), region.address(), Codes.ACCESS.bits(access));
                    request.bindRange(shown, length);
                    window.bind(request, access.contains(Access.ZERO_BASED) ? 0 : shown);
                },
                window.ownLifetime(),
                region.ownLifetime());
    }

    /**
     * Takes away what a window shows; it can be bound again. Not what the peer has taken away: that
     * ends the queue pair. In C: {@code IBV_WR_LOCAL_INV}.
     *
     * @throws IllegalStateException if it shows nothing
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public Transfer invalidate(Type2Window window) throws FabricException, InterruptedIOException {
        checkReliable(Operation.INVALIDATE.name());
        window.checkBound();
        return post(
                Operation.INVALIDATE,
                List.of(),
                request -> {
                    request.invalidatedKey(window.key());
                    window.unbind();
                },
                window.ownLifetime());
    }
}
