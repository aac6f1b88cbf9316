package org.jrdma.verbs;

import java.util.List;
import java.util.Set;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.FlushPlacement;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * A prepared flush. It completes after earlier writes to the flushed remote memory have become
 * visible or persistent, as selected by {@link FlushPlacement}. In C: {@code IBV_WR_FLUSH}, {@code
 * ibv_wr_flush}.
 */
public final class PreparedFlush extends PreparedSendRequest<PreparedFlush> {

    private final RemoteMemory remote;
    private final Set<FlushPlacement> placements;

    private PreparedFlush(
            PostTarget<PolledWorkQueueSlots> post,
            RemoteMemory remote,
            FlushPlacement... placements) {
        super(post, Operation.FLUSH);
        this.remote = remote;
        this.placements = RequestWriter.placements(placements);
        local(List.of());
    }

    static PreparedFlush forRange(
            PostTarget<PolledWorkQueueSlots> post,
            RemoteMemory remote,
            FlushPlacement... placements) {
        return new PreparedFlush(post, remote, placements).range(0, remote.length());
    }

    static PreparedFlush ofRegion(
            PostTarget<PolledWorkQueueSlots> post,
            RemoteMemory remote,
            FlushPlacement... placements) {
        var flush = new PreparedFlush(post, remote, placements);
        RequestWriter.flushRegion(flush.request(), remote, flush.placements);
        return flush;
    }

    /**
     * Selects the range of the remote memory to flush; by default the whole remote memory, or the
     * whole region for a region flush. After this call, a region flush flushes only the range.
     *
     * @throws IndexOutOfBoundsException if the range is not within the remote memory
     * @throws IllegalArgumentException if the range has 4 GiB or more
     */
    public PreparedFlush range(long firstByte, long length) {
        checkThread();
        RequestWriter.flushRange(request(), remote, firstByte, length, placements);
        return this;
    }

    @Override
    void checkSlices(int count, long bytes, boolean inPlace) {
        checkNoSlices(count);
    }

    @Override
    String describe() {
        return "FLUSH %s of %s".formatted(placements, remote);
    }
}
