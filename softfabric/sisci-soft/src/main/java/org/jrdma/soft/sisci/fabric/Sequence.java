package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import org.jspecify.annotations.Nullable;

/**
 * A check of whether stores into a map have arrived. In C: {@code sci_sequence_t}. For one thread
 * at a time.
 */
public final class Sequence {

    private final SegmentMap map;
    private final @Nullable RemoteMemory memory;
    private int cuts;
    private boolean needsStart;
    private boolean removed;

    private Sequence(SegmentMap map) {
        this.map = map;
        this.memory = map.remote();
        this.cuts = memory == null ? 0 : memory.cuts();
    }

    /** Creates a sequence of a map. In C: {@code SCICreateMapSequence}. */
    public static Sequence create(SegmentMap map, int flags) {
        Flags.checkAllowed(flags, UnpublishedFlags.FAST_BARRIER);
        map.addSequence();
        return new Sequence(map);
    }

    /** The map. */
    public SegmentMap map() {
        return map;
    }

    /** Starts again; returns whether stores would arrive. In C: {@code SCIStartSequence}. */
    public int start() {
        if (memory == null) {
            return SCI_SEQ_OK();
        }
        var now = memory.cuts(); // first: a cut that comes between shows at the check
        if (memory.link() != RemoteMemory.Link.UP) {
            needsStart = true;
            return SCI_SEQ_NOT_RETRIABLE();
        }
        cuts = now;
        needsStart = false;
        return SCI_SEQ_OK();
    }

    /** Whether all stores since the last time have arrived. In C: {@code SCICheckSequence}. */
    public int check(int flags) {
        if ((flags & (UnpublishedFlags.NO_FLUSH | UnpublishedFlags.NO_STORE_BARRIER))
                != (UnpublishedFlags.NO_FLUSH | UnpublishedFlags.NO_STORE_BARRIER)) {
            map.flush();
        }
        if (memory == null) {
            return SCI_SEQ_OK();
        }
        var now = memory.cuts();
        if (needsStart || memory.link() != RemoteMemory.Link.UP) {
            needsStart = true;
            return SCI_SEQ_NOT_RETRIABLE();
        }
        if (now != cuts) {
            cuts = now;
            return SCI_SEQ_RETRIABLE();
        }
        return SCI_SEQ_OK();
    }

    /** Removes the sequence. In C: {@code SCIRemoveSequence}. */
    public void remove() {
        throwIf(removed, SCI_ERR_ILLEGAL_PARAMETER());
        removed = true;
        map.removeSequence();
    }
}
