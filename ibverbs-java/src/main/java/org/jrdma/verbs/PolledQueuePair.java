package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.FlushPlacement;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * A connected queue pair whose user prepares requests, posts them, and polls a {@link
 * CompletionQueue}: nothing is allocated, locked or waited for.
 *
 * <p>Requests to send are prepared and posted by one thread, the first to prepare one; receives by
 * one thread, likewise. They may be two, and neither need be the one that polls.
 */
public final class PolledQueuePair extends PolledTwoWayEnd implements ConnectedQueuePair {

    PolledQueuePair(
            ProtectionDomain domain,
            CompletionQueue ofSends,
            CompletionQueue ofReceives,
            QueuePairOptions<PolledQueuePair> options)
            throws VerbsException {
        super(domain, ofSends, ofReceives, options);
    }

    @Override
    public void connect(Endpoint peer, ConnectOptions options) throws VerbsException {
        connectTo(peer, options);
    }

    /** A message. */
    public PreparedSend prepareSend(MemorySlice local) {
        return prepareSend(List.of(local));
    }

    /** A message gathered from pieces. */
    public PreparedSend prepareSend(List<MemorySlice> local) {
        return new PreparedSend(this, local);
    }

    /**
     * A write of the peer's memory, at its beginning.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer
     */
    public PreparedWrite prepareWrite(MemorySlice local, RemoteMemory remote) {
        return prepareWrite(List.of(local), remote);
    }

    /**
     * A write of the peer's memory, at its beginning, gathered from pieces.
     *
     * @throws IndexOutOfBoundsException if they are longer
     */
    public PreparedWrite prepareWrite(List<MemorySlice> local, RemoteMemory remote) {
        return new PreparedWrite(this, local, remote);
    }

    /**
     * A read of the peer's memory, from its beginning, as much as {@code local} holds.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public PreparedRead prepareRead(MemorySlice local, RemoteMemory remote) {
        return prepareRead(List.of(local), remote);
    }

    /**
     * A read of the peer's memory, from its beginning, scattered to pieces.
     *
     * @throws IndexOutOfBoundsException if they are longer
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public PreparedRead prepareRead(List<MemorySlice> local, RemoteMemory remote) {
        checkReliable("READ");
        return new PreparedRead(this, local, remote);
    }

    /**
     * A compare-and-swap of the first 8 bytes of the peer's memory; the former value comes to
     * {@code result}.
     *
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public PreparedCompareAndSwap prepareCompareAndSwap(MemorySlice result, RemoteMemory remote) {
        checkReliable("COMPARE_AND_SWAP");
        return new PreparedCompareAndSwap(this, result, remote);
    }

    /**
     * A fetch-and-add to the first 8 bytes of the peer's memory; the former value comes to {@code
     * result}.
     *
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public PreparedFetchAndAdd prepareFetchAndAdd(MemorySlice result, RemoteMemory remote) {
        checkReliable("FETCH_AND_ADD");
        return new PreparedFetchAndAdd(this, result, remote);
    }

    /**
     * A bind of a window to all of a region, or to a part of it.
     *
     * @param rights what the peer may do: {@link Access#REMOTE_WRITE}, {@link Access#REMOTE_READ},
     *     {@link Access#REMOTE_ATOMIC}; and, for a window of type 2, {@link Access#ZERO_BASED}
     * @throws IllegalArgumentException if the three are not of one domain
     */
    public PreparedBind prepareBind(MemoryWindow window, MemoryRegion region, Access... rights) {
        return new PreparedBind(this, window, region, Access.setOf(rights));
    }

    /**
     * Takes away what a window shows.
     *
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public PreparedInvalidate prepareInvalidate(Type2Window window) {
        checkReliable("INVALIDATE");
        return new PreparedInvalidate(this, window);
    }

    /**
     * A write of the first 8 bytes of the peer's memory at once.
     *
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8
     * @throws UnsupportedOperationException if it was made without {@link
     *     QueuePairOptions#atomicWrites}
     */
    public PreparedAtomicWrite prepareAtomicWrite(RemoteMemory remote) {
        checkMadeFor(Operation.ATOMIC_WRITE);
        return new PreparedAtomicWrite(this, remote);
    }

    /**
     * A flush of what was written into the peer's memory before. The peer allows it by {@link
     * Access#FLUSH_GLOBAL} or {@link Access#FLUSH_PERSISTENT}, of its region and of its queue pair.
     *
     * @throws IllegalArgumentException if no placement is named, or the memory has 4 GiB or more
     * @throws UnsupportedOperationException if it was made without {@link QueuePairOptions#flushes}
     */
    public PreparedFlush prepareFlush(RemoteMemory remote, FlushPlacement... placements) {
        checkMadeFor(Operation.FLUSH);
        return PreparedFlush.ofRange(this, remote, placements);
    }

    /**
     * The same for all of the region that the peer's key is of, whatever part of it is known here.
     *
     * @throws IllegalArgumentException if no placement is named
     * @throws UnsupportedOperationException if it was made without {@link QueuePairOptions#flushes}
     */
    public PreparedFlush prepareRegionFlush(RemoteMemory remote, FlushPlacement... placements) {
        checkMadeFor(Operation.FLUSH);
        return PreparedFlush.ofRegion(this, remote, placements);
    }

    @Override
    void direct(WorkRequest.Send marker) {
        // it goes to the peer
    }
}
