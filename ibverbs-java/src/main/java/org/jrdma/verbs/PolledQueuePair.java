package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.MemoryWindow;
import org.jrdma.verbs.memory.Type2Window;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.FlushPlacement;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * A connected queue pair for prepared requests and a polled {@link CompletionQueue}. Posting and
 * polling do not allocate, lock or wait.
 *
 * <p>Requests of the send queue must be prepared and posted by one thread: the first one that
 * prepares such a request. Likewise, one thread must prepare and post receives. The two threads may
 * differ from each other and from the polling thread.
 */
public final class PolledQueuePair extends AbstractPolledQueuePair implements ConnectedQueuePair {

    PolledQueuePair(Parameters parameters) throws VerbsException {
        super(parameters);
    }

    @Override
    public void connect(Endpoint peer, DirectConnectOptions options) throws VerbsException {
        connectTo(peer, options);
    }

    /** Prepares a send of one message. */
    public PreparedSend prepareSend(MemorySlice local) {
        return prepareSend(List.of(local));
    }

    /** Prepares a send of one message, which is gathered from several slices. */
    public PreparedSend prepareSend(List<MemorySlice> local) {
        return new PreparedSend(sends(), local);
    }

    /**
     * Prepares a write of the bytes of {@code local} to remote memory, starting at the first byte
     * of {@code remote}.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     */
    public PreparedWrite prepareWrite(MemorySlice local, RemoteMemory remote) {
        return prepareWrite(List.of(local), remote);
    }

    /**
     * Prepares a write of the bytes of several local slices to remote memory, one after the other,
     * starting at the first byte of {@code remote}.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     */
    public PreparedWrite prepareWrite(List<MemorySlice> local, RemoteMemory remote) {
        return new PreparedWrite(sends(), local, remote);
    }

    /**
     * Prepares a read of as many bytes as {@code local} has from remote memory, starting at the
     * first byte of {@code remote}.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public PreparedRead prepareRead(MemorySlice local, RemoteMemory remote) {
        return prepareRead(List.of(local), remote);
    }

    /**
     * Prepares a read from remote memory, starting at the first byte of {@code remote}, into
     * several local slices, one after the other.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public PreparedRead prepareRead(List<MemorySlice> local, RemoteMemory remote) {
        queuePair().checkReliable(Operation.READ);
        return new PreparedRead(sends(), local, remote);
    }

    /**
     * Prepares a compare-and-swap of the first 8 bytes of remote memory, which stores their
     * previous value in {@code result}. {@link PreparedCompareAndSwap#values} sets the expected
     * value and the replacement.
     *
     * @throws IllegalArgumentException if the remote address is not a multiple of 8, or {@code
     *     result} is not 8 bytes long
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public PreparedCompareAndSwap prepareCompareAndSwap(MemorySlice result, RemoteMemory remote) {
        queuePair().checkReliable(Operation.COMPARE_AND_SWAP);
        return new PreparedCompareAndSwap(sends(), result, remote);
    }

    /**
     * Prepares a fetch-and-add on the first 8 bytes of remote memory, which stores their previous
     * value in {@code result}. {@link PreparedFetchAndAdd#delta} sets the value to add.
     *
     * @throws IllegalArgumentException if the remote address is not a multiple of 8, or {@code
     *     result} is not 8 bytes long
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public PreparedFetchAndAdd prepareFetchAndAdd(MemorySlice result, RemoteMemory remote) {
        queuePair().checkReliable(Operation.FETCH_AND_ADD);
        return new PreparedFetchAndAdd(sends(), result, remote);
    }

    /**
     * Prepares a bind of a window to a region. {@link PreparedBind#range} selects a part of the
     * region.
     *
     * @param rights the access rights of the peer: {@link Access#REMOTE_WRITE}, {@link
     *     Access#REMOTE_READ}, {@link Access#REMOTE_ATOMIC}; for a window of type 2, also {@link
     *     Access#ZERO_BASED}
     * @throws IllegalArgumentException if the window, the region and the queue pair do not belong
     *     to the same protection domain
     */
    public PreparedBind prepareBind(MemoryWindow window, MemoryRegion region, Access... rights) {
        return new PreparedBind(sends(), window, region, Access.setOf(rights));
    }

    /**
     * Prepares the invalidation of a window.
     *
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public PreparedInvalidate prepareInvalidate(Type2Window window) {
        queuePair().checkReliable(Operation.INVALIDATE);
        return new PreparedInvalidate(sends(), window);
    }

    /**
     * Prepares an atomic write to the first 8 bytes of remote memory. {@link
     * PreparedAtomicWrite#value} sets the value.
     *
     * @throws IllegalArgumentException if the remote address is not a multiple of 8
     * @throws UnsupportedOperationException if the queue pair was created without {@link
     *     QueuePairOptions#atomicWrites}
     */
    public PreparedAtomicWrite prepareAtomicWrite(RemoteMemory remote) {
        queuePair().checkMadeFor(Operation.ATOMIC_WRITE);
        return new PreparedAtomicWrite(sends(), remote);
    }

    /**
     * Prepares a flush of earlier writes to remote memory. The memory region and the queue pair of
     * the peer must both have the access right {@link Access#FLUSH_GLOBAL} or {@link
     * Access#FLUSH_PERSISTENT}, depending on the placement.
     *
     * @throws IllegalArgumentException if {@code placements} is empty, or {@code remote} has 4 GiB
     *     or more
     * @throws UnsupportedOperationException if the queue pair was created without {@link
     *     QueuePairOptions#flushes}
     */
    public PreparedFlush prepareFlush(RemoteMemory remote, FlushPlacement... placements) {
        queuePair().checkMadeFor(Operation.FLUSH);
        return PreparedFlush.forRange(sends(), remote, placements);
    }

    /**
     * Prepares a flush of the whole memory region that the key of {@code remote} identifies, even
     * if {@code remote} is only a part of the region.
     *
     * @throws IllegalArgumentException if {@code placements} is empty
     * @throws UnsupportedOperationException if the queue pair was created without {@link
     *     QueuePairOptions#flushes}
     */
    public PreparedFlush prepareRegionFlush(RemoteMemory remote, FlushPlacement... placements) {
        queuePair().checkMadeFor(Operation.FLUSH);
        return PreparedFlush.ofRegion(sends(), remote, placements);
    }

    @Override
    void addressMarker(WorkRequest.Send marker) {
        // Requests of a connected queue pair have no destination.
    }
}
