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
import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.abi.UnacknowledgedEvents;
import org.jrdma.soft.roce.engine.Completion;
import org.jrdma.soft.roce.engine.CompletionSink;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of an {@code ibv_cq} or {@code ibv_cq_ex}: a ring buffer of {@code ibv_wc}
 * structures. The thread that holds the port's lock adds completions. Any thread may remove them.
 */
final class CompletionQueueObject extends ContextResource implements CompletionSink {

    /**
     * The layout of the immediate data, which is in network byte order. It is a constant because an
     * access through a layout that is not constant is slow: the JVM searches for the var handle of
     * the layout each time.
     */
    private static final ValueLayout.OfInt IMMEDIATE =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    private static final long BYTES = ibv_wc.layout().byteSize();

    /**
     * The completions for which the program has requested an event: none, solicited ones, or all.
     */
    private enum Armed {
        NONE,
        SOLICITED,
        ALL
    }

    private final @Nullable CompletionChannelObject channel;

    /** The number of events that the program has not received. Used by the channel. */
    int eventsInChannel;

    /** The next queue that has events in the channel. */
    @Nullable CompletionQueueObject nextInChannel;

    private final UnacknowledgedEvents completionEvents = new UnacknowledgedEvents();
    private final boolean ignoresOverrun;

    /**
     * The parent domain that the program passed when it created the queue; null if it passed none.
     */
    private final @Nullable ProtectionDomainObject parent;

    /** The poll functions of an {@code ibv_cq_ex}; null if this queue is an {@code ibv_cq}. */
    private final @Nullable ExtendedPoll extendedPoll;

    private MemorySegment ring;

    /**
     * The time when each completion in the ring was added, on {@link DeviceLimits#clock}. Empty if
     * the program did not request timestamps.
     */
    private long[] timestamps = {};

    private int capacity;

    /** The position of the oldest completion in the ring. */
    private int first;

    /** The number of completions in the ring. */
    private volatile int count;

    /** The completions that trigger the next event. Set by {@link #requestNotification}. */
    private Armed armed = Armed.NONE;

    /**
     * True after a completion was lost because the ring was full. The program is notified of an
     * overrun only once.
     */
    private boolean overrun;

    /**
     * Moderation: an event is reported after this number of completions; 0 if the number does not
     * matter.
     */
    private int completionsPerEvent;

    /**
     * Moderation: an event is reported at the latest when this time has passed since the first
     * completion of the current moderation period; 0 for no limit.
     */
    private long maxEventDelayNanos;

    /** Moderation: the number of completions added since the current moderation period started. */
    private int moderated;

    /**
     * The number of the current moderation period. An alarm that was set in an earlier period
     * recognizes by this number that it must be ignored.
     */
    private long moderationPeriod;

    /**
     * Creates a completion queue.
     *
     * @param userContext the pointer that the program receives with each event
     * @param channel the channel for completion events; null for none
     * @param extension the {@code ibv_cq_init_attr_ex} to create an {@code ibv_cq_ex}; null to
     *     create an {@code ibv_cq}
     */
    CompletionQueueObject(
            ContextObject context,
            int capacity,
            long userContext,
            @Nullable CompletionChannelObject channel,
            @Nullable MemorySegment extension) {
        requireValidCapacity(capacity);
        var owner = extension == null ? null : parent(context, extension);
        // An ibv_cq_ex begins with an ibv_cq.
        super(context, extension == null ? ibv_cq.layout() : ibv_cq_ex.layout());
        this.channel = channel;
        this.capacity = capacity;
        this.ring = newRing(capacity);
        this.parent = owner;
        this.ignoresOverrun =
                extension != null
                        && (flags(extension) & rdma_h.IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN()) != 0;
        ibv_cq.context(structure(), context.address());
        ibv_cq.cq_context(structure(), MemorySegment.ofAddress(userContext));
        ibv_cq.cqe(structure(), capacity);
        if (extension == null) {
            this.extendedPoll = null;
        } else {
            var fields = (int) ibv_cq_init_attr_ex.wc_flags(extension);
            this.extendedPoll = new ExtendedPoll(this, structure(), fields);
            if (ExtendedPoll.needsTime(fields)) {
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

    /** Returns the flags of an {@code ibv_cq_init_attr_ex}. */
    static int flags(MemorySegment extension) {
        return (ibv_cq_init_attr_ex.comp_mask(extension) & rdma_h.IBV_CQ_INIT_ATTR_MASK_FLAGS())
                        == 0
                ? 0
                : ibv_cq_init_attr_ex.flags(extension);
    }

    static CompletionQueueObject of(long address) {
        return StructureRegistry.object(address, CompletionQueueObject.class);
    }

    UnacknowledgedEvents completionEvents() {
        return completionEvents;
    }

    @Override
    public boolean add(Completion completion) {
        synchronized (this) {
            if (count == capacity) {
                if (ignoresOverrun) {
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
            var index = ringIndex(count);
            write(completion, index * BYTES);
            if (timestamps.length > 0) {
                timestamps[index] = DeviceLimits.clock();
            }
            // All threads that modify this volatile field hold the lock, so the increment is safe.
            count++;
            if (armed == Armed.ALL || (armed == Armed.SOLICITED && completion.solicited())) {
                moderateOrReport();
            }
            return true;
        }
    }

    /** Reports an event for a completion that was just added, or leaves the event to moderation. */
    private void moderateOrReport() {
        moderated++;
        var isEnough =
                completionsPerEvent == 0
                        ? maxEventDelayNanos == 0
                        : moderated >= completionsPerEvent;
        if (isEnough) {
            report();
        } else if (moderated == 1 && maxEventDelayNanos > 0) {
            var period = moderationPeriod;
            try {
                context().port().alarm(maxEventDelayNanos, () -> delayExpired(period));
            } catch (VirtualMachineError e) {
                report(); // without delay, because there is too little memory for the alarm
            }
        }
    }

    private synchronized void delayExpired(long period) {
        if (period == moderationPeriod && armed != Armed.NONE) {
            report();
        }
    }

    /**
     * Reports an event. Further completions report none until the program requests a notification
     * again.
     */
    private void report() {
        if (channel != null) {
            channel.report(this);
        }
        armed = Armed.NONE;
        startModeration();
    }

    private void startModeration() {
        moderated = 0;
        moderationPeriod++;
    }

    /**
     * Sets the moderation of events ({@code ibv_modify_cq}). An event is reported after the given
     * number of completions, or when the given time has passed since the first of them. A value of
     * 0 disables the respective condition; if both are 0, an event is reported immediately.
     */
    synchronized void moderate(int completions, int microseconds) {
        completionsPerEvent = completions;
        maxEventDelayNanos = microseconds * 1_000L;
        if (moderated > 0) {
            // The new delay cannot be applied, because the time of the first completion is unknown.
            report();
        }
    }

    private void write(Completion completion, long at) {
        ring.set(ValueLayout.JAVA_LONG, at + ibv_wc.wr_id$offset(), completion.id());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.status$offset(), completion.status().code());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.opcode$offset(), completion.kind().code());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.vendor_err$offset(), 0);
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.byte_len$offset(), (int) completion.bytes());
        ring.set(IMMEDIATE, at + ibv_wc.imm_data$offset(), completion.immediate());
        if (completion.invalidated()) { // invalidated_rkey and imm_data share a union
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

    /**
     * Moves up to {@code max} completions from the queue to memory of the caller.
     *
     * @param target the address of an array of {@code ibv_wc}
     * @return the number of completions moved
     */
    int poll(int max, long target) {
        if (extendedPoll == null) {
            progressIfEmpty();
            return take(max, target);
        }
        var lock = extendedPoll.lock();
        try {
            progressIfEmpty();
            return take(max, target);
        } finally {
            lock.unlock();
        }
    }

    /**
     * If the queue is empty, processes received packets of the device in the calling thread, so
     * that a polling thread does not depend on another thread for progress.
     */
    void progressIfEmpty() {
        if (count == 0) {
            context().port().progress();
        }
    }

    private synchronized int take(int max, long target) {
        var taken = Math.min(max, count);
        var untilWrap = Math.min(taken, capacity - first);
        UncheckedMemory.copy(ring, first * BYTES, target, untilWrap * BYTES);
        UncheckedMemory.copy(ring, 0, target + untilWrap * BYTES, (taken - untilWrap) * BYTES);
        drop(taken);
        return taken;
    }

    // ---- methods that ExtendedPoll calls while it holds its lock

    /**
     * Returns the poll functions of an {@code ibv_cq_ex}.
     *
     * @throws ErrnoException with {@code EINVAL} if this queue is not an {@code ibv_cq_ex}
     */
    ExtendedPoll extendedPoll() {
        if (extendedPoll == null) {
            throw new ErrnoException(Errno.EINVAL);
        }
        return extendedPoll;
    }

    /**
     * Copies a completion without removing it from the queue.
     *
     * @param index the position of the completion in the queue, where 0 is the oldest
     * @return false if the queue does not have so many completions
     */
    synchronized boolean peek(int index, MemorySegment target) {
        if (index >= count) {
            return false;
        }
        target.copyFrom(ring.asSlice(ringIndex(index) * BYTES, BYTES));
        return true;
    }

    /**
     * Returns the time when a completion was added, or 0 if the queue records no timestamps.
     *
     * @param index the position of the completion in the queue, where 0 is the oldest
     */
    synchronized long timestamp(int index) {
        return timestamps.length == 0 ? 0 : timestamps[ringIndex(index)];
    }

    /** Removes the given number of completions, beginning with the oldest. */
    synchronized void drop(int completions) {
        first = ringIndex(completions);
        count -= completions;
    }

    /**
     * Converts a position in the queue, where 0 is the oldest completion, to an index in the ring.
     */
    private int ringIndex(int index) {
        return (first + index) % capacity;
    }

    /**
     * Requests an event for the next completion that is added ({@code ibv_req_notify_cq}). Only one
     * event is reported for each request.
     *
     * @param solicitedOnly true to request the event for the next solicited completion or error
     *     only
     */
    void requestNotification(boolean solicitedOnly) {
        synchronized (this) {
            if (armed == Armed.NONE) {
                startModeration();
            }
            if (!solicitedOnly) {
                armed = Armed.ALL;
            } else if (armed == Armed.NONE) {
                armed = Armed.SOLICITED;
            }
        }
        context().port().callerWaits();
    }

    /**
     * Changes the capacity. The completions in the queue are kept.
     *
     * @throws ErrnoException with {@code EINVAL} if the capacity is invalid or less than the number
     *     of completions in the queue
     */
    void resize(int newCapacity) {
        requireValidCapacity(newCapacity);
        if (extendedPoll == null) {
            move(newCapacity);
            return;
        }
        // The lock is needed because a poll refers to completions by their distance from the
        // oldest.
        var lock = extendedPoll.lock();
        try {
            move(newCapacity);
        } finally {
            lock.unlock();
        }
    }

    private synchronized void move(int newCapacity) {
        ErrnoException.throwIf(newCapacity < count, Errno.EINVAL);
        var kept = count;
        if (timestamps.length > 0) {
            var times = new long[newCapacity];
            for (var index = 0; index < kept; index++) {
                times[index] = timestamps[ringIndex(index)];
            }
            timestamps = times;
        }
        var next = newRing(newCapacity);
        take(kept, next.address());
        ring = next;
        capacity = newCapacity;
        first = 0;
        count = kept;
        ibv_cq.cqe(structure(), newCapacity);
    }

    private static void requireValidCapacity(int capacity) {
        ErrnoException.throwIf(
                capacity < 1 || capacity > DeviceLimits.MAX_COMPLETIONS, Errno.EINVAL);
    }

    private static MemorySegment newRing(int capacity) {
        return Arena.ofAuto().allocate(BYTES * capacity, Long.BYTES);
    }

    @Override
    void stop() {
        users().requireNone(Errno.EBUSY);
        synchronized (this) {
            armed = Armed.NONE; // A moderation alarm may still be set; it must not report an event.
        }
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
