package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jrdma.abi.rdma.ibv_cq;
import org.jrdma.abi.rdma.ibv_cq_ex;
import org.jrdma.abi.rdma.ibv_cq_init_attr_ex;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.AddressSpace;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Structures;
import org.jrdma.soft.roce.abi.UnacknowledgedEvents;
import org.jrdma.soft.roce.engine.Completion;
import org.jrdma.soft.roce.engine.CompletionSink;
import org.jspecify.annotations.Nullable;

/**
 * Behind an {@code ibv_cq}: a ring of completions as C sees them. Filled by whoever drives the
 * port, emptied by any thread.
 */
final class CompletionQueueObject extends ContextResource implements CompletionSink {

    /** Made once: a layout that is no constant takes a search for each access. */
    private static final ValueLayout.OfInt IMMEDIATE =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    private static final long BYTES = ibv_wc.layout().byteSize();

    /** What was asked to be told of. */
    private enum Armed {
        NOTHING,
        SOLICITED,
        ANYTHING
    }

    private final @Nullable CompletionChannelObject channel;
    private final UnacknowledgedEvents completionEvents = new UnacknowledgedEvents();
    private final boolean losesWhatOverruns;

    /** The parent domain that it was made in, if any. */
    private final @Nullable ProtectionDomainObject parent;

    /** Null for one that {@code ibv_create_cq} made. */
    private final @Nullable CompletionPoll extendedPoll;

    private MemorySegment ring;

    /** When each was added, where completions tell that; else none. */
    private long[] timestamps = {};

    private int capacity;
    private int first;
    private volatile int count;
    private Armed armed = Armed.NOTHING;
    private boolean overrun;

    /** How many completions an event stands for; 0 for any number. */
    private int eventEach;

    /** How long it may be held back for more; 0 for as long as it takes. */
    private long eventWithinNanos;

    /** How many it would stand for by now. */
    private int held;

    /** How often the holding began anew. */
    private long turns;

    /**
     * @param extension what an extended one is made with, an {@code ibv_cq_init_attr_ex}; null for
     *     a plain one
     */
    CompletionQueueObject(
            ContextObject context,
            int capacity,
            long userContext,
            @Nullable CompletionChannelObject channel,
            @Nullable MemorySegment extension) {
        refuseUnlessPossible(capacity);
        var owner = extension == null ? null : parent(context, extension);
        // An ibv_cq_ex begins with an ibv_cq.
        super(context, extension == null ? ibv_cq.layout() : ibv_cq_ex.layout());
        this.channel = channel;
        this.capacity = capacity;
        this.ring = newRing(capacity);
        this.parent = owner;
        this.losesWhatOverruns =
                extension != null
                        && (flags(extension) & rdma_h.IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN()) != 0;
        ibv_cq.context(structure(), context.address());
        ibv_cq.cq_context(structure(), MemorySegment.ofAddress(userContext));
        ibv_cq.cqe(structure(), capacity);
        if (extension == null) {
            this.extendedPoll = null;
        } else {
            var fields = (int) ibv_cq_init_attr_ex.wc_flags(extension);
            this.extendedPoll = new CompletionPoll(this, structure(), fields);
            if (CompletionPoll.needsTime(fields)) {
                this.timestamps = new long[capacity];
            }
        }
        if (channel != null) {
            ibv_cq.channel(structure(), channel.structure());
            channel.users().add();
        }
        if (parent != null) {
            parent.users().add();
        }
        context.own(this);
    }

    private static @Nullable ProtectionDomainObject parent(
            ContextObject context, MemorySegment extension) {
        var present = ibv_cq_init_attr_ex.comp_mask(extension);
        if ((present & rdma_h.IBV_CQ_INIT_ATTR_MASK_PD()) == 0) {
            return null;
        }
        var domain =
                ProtectionDomainObject.of(ibv_cq_init_attr_ex.parent_domain(extension).address());
        ErrnoException.throwIf(!domain.isParent() || domain.context() != context, Errno.EINVAL);
        return domain;
    }

    /** Of an {@code ibv_cq_init_attr_ex}. */
    static int flags(MemorySegment extension) {
        return (ibv_cq_init_attr_ex.comp_mask(extension) & rdma_h.IBV_CQ_INIT_ATTR_MASK_FLAGS())
                        == 0
                ? 0
                : ibv_cq_init_attr_ex.flags(extension);
    }

    static CompletionQueueObject of(long address) {
        return Structures.object(address, CompletionQueueObject.class);
    }

    UnacknowledgedEvents completionEvents() {
        return completionEvents;
    }

    @Override
    public boolean add(Completion completion) {
        synchronized (this) {
            if (count == capacity) {
                if (losesWhatOverruns) {
                    return true;
                }
                if (!overrun) {
                    overrun = true;
                    context()
                            .raise(
                                    new AsyncEvent(
                                            rdma_h.IBV_EVENT_CQ_ERR(),
                                            structure().address(),
                                            asyncEvents()));
                }
                return false;
            }
            var place = place(count);
            write(completion, place * BYTES);
            if (timestamps.length > 0) {
                timestamps[place] = DeviceLimits.clock();
            }
            count++; // the only writer, as this is the lock's
            if (armed == Armed.ANYTHING || (armed == Armed.SOLICITED && completion.solicited())) {
                holdOrReport();
            }
            return true;
        }
    }

    /** One more completion is worth an event, which may stand for several. */
    private void holdOrReport() {
        held++;
        var isEnough = eventEach == 0 ? eventWithinNanos == 0 : held >= eventEach;
        if (isEnough) {
            report();
        } else if (held == 1 && eventWithinNanos > 0) {
            var turn = turns;
            context().port().alarm(eventWithinNanos, () -> heldLongEnough(turn));
        }
    }

    private synchronized void heldLongEnough(long turn) {
        if (turn == turns && armed != Armed.NOTHING) {
            report();
        }
    }

    private void report() {
        armed = Armed.NOTHING;
        startHolding();
        if (channel != null) {
            channel.report(this);
        }
    }

    private synchronized void disarm() {
        armed = Armed.NOTHING;
    }

    private void startHolding() {
        held = 0;
        turns++;
    }

    /** Lets an event stand for so many completions, or for those of so long; 0 of both for one. */
    synchronized void moderate(int completions, int microseconds) {
        eventEach = completions;
        eventWithinNanos = microseconds * 1_000L;
        if (held > 0) {
            report(); // nobody knows when the new time began
        }
    }

    private void write(Completion completion, long at) {
        ring.set(ValueLayout.JAVA_LONG, at + ibv_wc.wr_id$offset(), completion.id());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.status$offset(), completion.status().code());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.opcode$offset(), completion.kind().code());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.vendor_err$offset(), 0);
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.byte_len$offset(), (int) completion.bytes());
        ring.set(IMMEDIATE, at + ibv_wc.imm_data$offset(), completion.immediate());
        if (completion.invalidated()) { // in the same place
            ring.set(
                    ValueLayout.JAVA_INT,
                    at + ibv_wc.imm_data$offset(),
                    completion.invalidatedKey());
        }
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.qp_num$offset(), completion.queuePair());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.src_qp$offset(), completion.sourceQueuePair());
        ring.set(
                ValueLayout.JAVA_INT,
                at + ibv_wc.wc_flags$offset(),
                (completion.hasImmediate() ? rdma_h.IBV_WC_WITH_IMM() : 0)
                        | (completion.invalidated() ? rdma_h.IBV_WC_WITH_INV() : 0)
                        | (completion.hasRouteHeader() ? rdma_h.IBV_WC_GRH() : 0));
    }

    /** Moves completions to an array of {@code ibv_wc}. Returns how many. */
    int poll(int most, long target) {
        if (extendedPoll == null) {
            progressIfEmpty();
            return take(most, target);
        }
        var lock = extendedPoll.lock();
        try {
            progressIfEmpty();
            return take(most, target);
        } finally {
            lock.unlock();
        }
    }

    void progressIfEmpty() {
        if (count == 0) {
            context().port().progress();
        }
    }

    private synchronized int take(int most, long target) {
        var taken = Math.min(most, count);
        var untilWrap = Math.min(taken, capacity - first);
        AddressSpace.copy(ring, first * BYTES, target, untilWrap * BYTES);
        AddressSpace.copy(ring, 0, target + untilWrap * BYTES, (taken - untilWrap) * BYTES);
        drop(taken);
        return taken;
    }

    // ---- for the poll of an extended one, under its lock

    /**
     * The poll of an extended one.
     *
     * @throws ErrnoException if it is not extended
     */
    CompletionPoll extendedPoll() {
        if (extendedPoll == null) {
            throw new ErrnoException(Errno.EINVAL);
        }
        return extendedPoll;
    }

    /** Copies a completion that stays. False if there are not so many. */
    synchronized boolean look(int index, MemorySegment target) {
        if (index >= count) {
            return false;
        }
        target.copyFrom(ring.asSlice(place(index) * BYTES, BYTES));
        return true;
    }

    synchronized long timestamp(int index) {
        return timestamps.length == 0 ? 0 : timestamps[place(index)];
    }

    /** Takes the first away. */
    synchronized void drop(int completions) {
        first = place(completions);
        count -= completions;
    }

    private int place(int index) {
        return (first + index) % capacity;
    }

    /** Asks for one event. */
    void requestNotification(boolean solicitedOnly) {
        synchronized (this) {
            if (armed == Armed.NOTHING) {
                startHolding();
            }
            if (!solicitedOnly) {
                armed = Armed.ANYTHING;
            } else if (armed == Armed.NOTHING) {
                armed = Armed.SOLICITED;
            }
        }
        context().port().callerWaits();
    }

    /** Changes its capacity; completions stay. */
    void resize(int wanted) {
        refuseUnlessPossible(wanted);
        if (extendedPoll == null) {
            move(wanted);
            return;
        }
        var lock = extendedPoll.lock(); // who polls counts from the first
        try {
            move(wanted);
        } finally {
            lock.unlock();
        }
    }

    private synchronized void move(int wanted) {
        ErrnoException.throwIf(wanted < count, Errno.EINVAL);
        var kept = count;
        if (timestamps.length > 0) {
            var times = new long[wanted];
            for (var index = 0; index < kept; index++) {
                times[index] = timestamps[place(index)];
            }
            timestamps = times;
        }
        var next = newRing(wanted);
        take(kept, next.address());
        ring = next;
        capacity = wanted;
        first = 0;
        count = kept;
        ibv_cq.cqe(structure(), wanted);
    }

    private static void refuseUnlessPossible(int capacity) {
        ErrnoException.throwIf(
                capacity < 1 || capacity > DeviceLimits.MAX_COMPLETIONS, Errno.EINVAL);
    }

    private static MemorySegment newRing(int capacity) {
        return Arena.ofAuto().allocate(BYTES * capacity, Long.BYTES);
    }

    @Override
    void stop() {
        users().refuseIfAny(Errno.EBUSY);
        disarm(); // an event may still be held back
        if (channel != null) {
            channel.forget(this);
        }
        context().forgetEvents(asyncEvents());
    }

    @Override
    void destroy() {
        stop();
        super.destroy();
        if (channel != null) {
            channel.users().remove();
        }
        if (parent != null) {
            parent.users().remove();
        }
    }
}
