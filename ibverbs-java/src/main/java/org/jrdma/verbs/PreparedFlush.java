package org.jrdma.verbs;

import java.util.List;
import java.util.Set;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.FlushPlacement;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * Brings what earlier requests wrote into the peer's memory to where it is visible, or persistent;
 * completed when that is done. In C: {@code IBV_WR_FLUSH}, {@code ibv_wr_flush}.
 */
public final class PreparedFlush extends PreparedSendRequest<PreparedFlush> {

    private final RemoteMemory remote;
    private final Set<FlushPlacement> placements;

    private PreparedFlush(
            PolledPost<PolledWorkQueue> post, RemoteMemory remote, FlushPlacement... placements) {
        super(post, Operation.FLUSH);
        this.remote = remote;
        this.placements = RequestWriter.placements(placements);
        local(List.of());
    }

    static PreparedFlush ofRange(
            PolledPost<PolledWorkQueue> post, RemoteMemory remote, FlushPlacement... placements) {
        return new PreparedFlush(post, remote, placements).range(0, remote.length());
    }

    static PreparedFlush ofRegion(
            PolledPost<PolledWorkQueue> post, RemoteMemory remote, FlushPlacement... placements) {
        var flush = new PreparedFlush(post, remote, placements);
        RequestWriter.flushRegion(flush.request(), remote, flush.placements);
        return flush;
    }

    /**
     * What of the peer's memory.
     *
     * @throws IndexOutOfBoundsException if the range is not within
     * @throws IllegalArgumentException if it has 4 GiB or more
     */
    public PreparedFlush range(long firstByte, long length) {
        checkThread();
        RequestWriter.flushRange(request(), remote, firstByte, length, placements);
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
