package org.jrdma.sockets.sisci;

import java.util.BitSet;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.SegmentMap;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/**
 * A segment in which peers mark the streams that may have become ready, before they trigger the
 * interrupt of this process. Without it, each wake-up would scan the segments of all streams of the
 * process, most of whose cache lines and address translations are not cached.
 *
 * <p>Each segment of a stream has a slot, which peers learn from {@link StreamLayout#SLOT}. If
 * there are more segments than slots, the others share {@link #ALL}. A mark is any value that
 * differs from the last one in its slot. This process only loads marks: if it reset them, a store
 * of a peer could be lost at the same time.
 *
 * <p>If a peer cannot connect to this segment, it only triggers the interrupt. Triggers without a
 * mark request a scan of all streams by {@link MissedWakeUpScanner}. A hostile peer can change any
 * slot, which causes needless scans and delays wake-ups until the next scan of all streams.
 *
 * <p>Exists as long as its node. Safe for use by multiple threads, except {@link #scanMarked}.
 */
final class WakeUpMarks {

    /** The number of slots. */
    static final int SLOTS = 4096;

    /** The slot of all segments without a slot of their own. */
    static final int ALL = 0;

    /**
     * Stored by the owner: the kind and version of the layout. Stored again for each stream,
     * because peers could have changed it.
     */
    private static final long KIND = 0;

    private static final long THIS_KIND = 0x6a72646d_62100001L;
    private static final long FIRST_SLOT = 64;
    private static final long BYTES = FIRST_SLOT + (long) SLOTS * Long.BYTES;

    private final LocalSegment segment;
    private final LocalMap map;

    /** The last marks that {@link #scanMarked} has loaded. */
    private final long[] seen = new long[SLOTS];

    // Guarded by this; scans and end are also read without the lock.

    private final BitSet used = new BitSet();
    private final AtomicReferenceArray<@Nullable Runnable> scans =
            new AtomicReferenceArray<>(SLOTS);

    /** The end of the slots that have been used. */
    private volatile int end = ALL + 1;

    private WakeUpMarks(LocalSegment segment) throws SisciException {
        this.segment = segment;
        this.map = segment.map();
    }

    /** Creates the segment, and offers it to peers. */
    static WakeUpMarks create(Node node) throws SisciException {
        var bytes = StreamLayout.inPages(BYTES);
        var segment = node.newSegment(SegmentOptions.withFreeId(StreamSegment.nextId(), bytes));
        try {
            var marks = new WakeUpMarks(segment);
            marks.storeKind();
            segment.offer();
            return marks;
        } catch (Throwable e) {
            segment.close();
            throw e;
        }
    }

    private void storeKind() {
        map.putLongRelease(KIND, THIS_KIND);
    }

    LocalSegment segment() {
        return segment;
    }

    /**
     * Assigns a slot to a segment of a stream.
     *
     * @param scan scans the stream; called after a peer has marked it
     */
    synchronized int add(Runnable scan) {
        storeKind();
        var slot = used.nextClearBit(ALL + 1);
        if (slot >= SLOTS) {
            return ALL;
        }
        scans.set(slot, scan);
        used.set(slot);
        end = Math.max(end, slot + 1);
        return slot;
    }

    /** Makes a slot free. */
    synchronized void remove(int slot) {
        if (slot != ALL) {
            scans.set(slot, null);
            used.clear(slot);
        }
    }

    /**
     * Scans the streams that were marked since the last call. One thread at a time may call this.
     *
     * @param scanAll scans all streams; called if a segment in the slot {@link #ALL} is marked
     * @return false if nothing was marked
     */
    boolean scanMarked(Runnable scanAll) {
        var found = false;
        for (var slot = 0; slot < end; slot++) {
            var mark = map.getLongAcquire(offset(slot));
            if (mark != seen[slot]) {
                seen[slot] = mark;
                found = true;
                var scan = slot == ALL ? scanAll : scans.get(slot);
                if (scan != null) {
                    scan.run();
                }
            }
        }
        return found;
    }

    /**
     * Checks that a segment of a peer is one for marks.
     *
     * @param map the mapping of the segment
     */
    static void check(SegmentMap map) throws FabricException {
        if (map.byteSize() < BYTES || map.getLongAcquire(KIND) != THIS_KIND) {
            throw new FabricException("%s is not a segment for wake-ups".formatted(map));
        }
    }

    /** Returns the offset of a slot in the segment. */
    static long offset(int slot) {
        return FIRST_SLOT + (long) slot * Long.BYTES;
    }
}
