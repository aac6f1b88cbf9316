package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import org.jspecify.annotations.Nullable;

/**
 * A check whether stores through a map were lost. In C: {@code sci_sequence_t}. Used by one thread
 * at a time.
 */
public final class Sequence {

    private final SegmentMap map;
    private final @Nullable SegmentLink link;
    private int cuts;
    private boolean needsStart;
    private boolean removed;

    private Sequence(SegmentMap map) {
        this.map = map;
        this.link = map.remote();
        this.cuts = link == null ? 0 : link.cuts();
    }

    public static Sequence create(SegmentMap map, int flags) {
        FlagChecks.checkAllowed(flags, UnpublishedFlags.FAST_BARRIER);
        map.addSequence();
        return new Sequence(map);
    }

    public SegmentMap map() {
        return map;
    }

    /**
     * Starts this sequence, or starts it again after an error, and returns the status of the link.
     * In C: {@code SCIStartSequence}.
     */
    public int start() {
        if (link == null) {
            return SCI_SEQ_OK();
        }
        // The number of cuts is read before the state of the link, so that the next check detects a
        // cut that happens in between.
        var now = link.cuts();
        if (link.state() != SegmentLink.State.UP) {
            needsStart = true;
            return SCI_SEQ_NOT_RETRIABLE();
        }
        cuts = now;
        needsStart = false;
        return SCI_SEQ_OK();
    }

    /**
     * Returns whether the stores since the last check have arrived. In C: {@code SCICheckSequence}.
     */
    public int check(int flags) {
        if ((flags & (UnpublishedFlags.NO_FLUSH | UnpublishedFlags.NO_STORE_BARRIER))
                != (UnpublishedFlags.NO_FLUSH | UnpublishedFlags.NO_STORE_BARRIER)) {
            map.flush();
        }
        if (link == null) {
            return SCI_SEQ_OK();
        }
        var now = link.cuts();
        if (needsStart || link.state() != SegmentLink.State.UP) {
            needsStart = true;
            return SCI_SEQ_NOT_RETRIABLE();
        }
        if (now != cuts) {
            cuts = now;
            return SCI_SEQ_RETRIABLE();
        }
        return SCI_SEQ_OK();
    }

    public void remove() {
        throwIf(removed, SCI_ERR_ILLEGAL_PARAMETER());
        removed = true;
        map.removeSequence();
    }
}
