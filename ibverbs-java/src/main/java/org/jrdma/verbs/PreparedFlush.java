package org.jrdma.verbs;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jrdma.verbs.internal.Codes;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.model.FlushPlacement;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * Brings what earlier requests wrote into the peer's memory to where it is visible, or persistent;
 * completed when that is done. In C: {@code IBV_WR_FLUSH}, {@code ibv_wr_flush}.
 */
public final class PreparedFlush extends PreparedSendRequest<PreparedFlush> {

    private final RemoteMemory remote;
    private final Set<FlushPlacement> placements;

    private PreparedFlush(
            PolledQueuePair queuePair, RemoteMemory remote, FlushPlacement... placements) {
        super(queuePair, Operation.FLUSH);
        this.remote = remote;
        this.placements = placements(placements);
        local(List.of());
    }

    static PreparedFlush ofRange(
            PolledQueuePair queuePair, RemoteMemory remote, FlushPlacement... placements) {
        return new PreparedFlush(queuePair, remote, placements).range(0, remote.length());
    }

    static PreparedFlush ofRegion(
            PolledQueuePair queuePair, RemoteMemory remote, FlushPlacement... placements) {
        var flush = new PreparedFlush(queuePair, remote, placements);
        writeRegion(flush.request(), remote, flush.placements);
        return flush;
    }

    static Set<FlushPlacement> placements(FlushPlacement... asked) {
        var placements = EnumSet.noneOf(FlushPlacement.class);
        placements.addAll(Arrays.asList(asked));
        if (placements.isEmpty()) {
            throw new IllegalArgumentException(
                    "A flush goes somewhere: GLOBAL, PERSISTENT or both");
        }
        return placements;
    }

    /** Writes into a request that a part is flushed. */
    static void writeRange(
            Send request,
            RemoteMemory remote,
            long offset,
            long length,
            Set<FlushPlacement> placements) {
        RemoteBounds.checkFlush(offset, length, remote);
        request.flush(
                remote.address() + offset,
                remote.key(),
                (int) length,
                Codes.FLUSH_PLACEMENT.bits(placements));
    }

    /** Writes into a request that all of the peer's region is flushed. */
    static void writeRegion(Send request, RemoteMemory remote, Set<FlushPlacement> placements) {
        request.flushRegion(remote.address(), remote.key(), Codes.FLUSH_PLACEMENT.bits(placements));
    }

    /**
     * What of the peer's memory.
     *
     * @throws IndexOutOfBoundsException if the range is not within
     * @throws IllegalArgumentException if it has 4 GiB or more
     */
    public PreparedFlush range(long firstByte, long length) {
        checkThread();
        writeRange(request(), remote, firstByte, length, placements);
        return this;
    }

    @Override
    void checkPieces(int count, long bytes, boolean inPlace) {
        checkNoPieces(count);
    }

    @Override
    String describe() {
        return "FLUSH %s of %s".formatted(placements, remote);
    }
}
