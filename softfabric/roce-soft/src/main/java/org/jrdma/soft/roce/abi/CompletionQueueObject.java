package org.jrdma.soft.roce.abi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jrdma.abi.rdma.ibv_cq;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.AddressSpace;
import org.jrdma.soft.roce.engine.Completion;
import org.jrdma.soft.roce.engine.CompletionSink;
import org.jspecify.annotations.Nullable;

/**
 * Behind an {@code ibv_cq}: a ring of completions as C sees them. Filled by whoever drives the
 * port, emptied by any thread.
 */
final class CompletionQueueObject implements Owned, CompletionSink, EventSubject {

    private static final long BYTES = ibv_wc.layout().byteSize();

    /** What was asked to be told of. */
    private enum Armed {
        NOTHING,
        SOLICITED,
        ANYTHING
    }

    private final ContextObject context;
    private final MemorySegment structure;
    private final @Nullable ChannelObject channel;
    private final EventCount completionEvents = new EventCount();
    private final EventCount asyncEvents = new EventCount();
    private final Users users = new Users();

    private MemorySegment ring;
    private int capacity;
    private int first;
    private volatile int count;
    private Armed armed = Armed.NOTHING;
    private boolean overrun;

    CompletionQueueObject(
            ContextObject context,
            int capacity,
            long userContext,
            @Nullable ChannelObject channel) {
        refuseUnlessPossible(capacity);
        this.context = context;
        this.channel = channel;
        this.capacity = capacity;
        this.ring = newRing(capacity);
        this.structure = Structures.allocate(ibv_cq.layout(), this);
        ibv_cq.context(structure, context.address());
        ibv_cq.cq_context(structure, MemorySegment.ofAddress(userContext));
        ibv_cq.cqe(structure, capacity);
        if (channel != null) {
            ibv_cq.channel(structure, channel.structure());
            channel.users().add();
        }
        context.own(this);
    }

    static CompletionQueueObject of(long address) {
        return Structures.object(address, CompletionQueueObject.class);
    }

    ContextObject context() {
        return context;
    }

    MemorySegment structure() {
        return structure;
    }

    /** Queue pairs that complete here. */
    Users users() {
        return users;
    }

    @Override
    public EventCount asyncEvents() {
        return asyncEvents;
    }

    EventCount completionEvents() {
        return completionEvents;
    }

    @Override
    public boolean add(Completion completion) {
        synchronized (this) {
            if (count == capacity) {
                if (!overrun) {
                    overrun = true;
                    context.raise(
                            new AsyncEvent(
                                    rdma_h.IBV_EVENT_CQ_ERR(), structure.address(), asyncEvents));
                }
                return false;
            }
            write(completion, (first + count) % capacity * BYTES);
            count++; // the only writer, as this is the lock's
            if (armed == Armed.ANYTHING || (armed == Armed.SOLICITED && completion.solicited())) {
                armed = Armed.NOTHING;
                if (channel != null) {
                    channel.report(this);
                }
            }
            return true;
        }
    }

    private void write(Completion completion, long at) {
        ring.set(ValueLayout.JAVA_LONG, at + ibv_wc.wr_id$offset(), completion.id());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.status$offset(), completion.status().code());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.opcode$offset(), completion.kind().code());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.vendor_err$offset(), 0);
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.byte_len$offset(), (int) completion.bytes());
        ring.set(
                ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN),
                at + ibv_wc.imm_data$offset(),
                completion.immediate());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.qp_num$offset(), completion.queuePair());
        ring.set(ValueLayout.JAVA_INT, at + ibv_wc.src_qp$offset(), completion.sourceQueuePair());
        ring.set(
                ValueLayout.JAVA_INT,
                at + ibv_wc.wc_flags$offset(),
                (completion.hasImmediate() ? rdma_h.IBV_WC_WITH_IMM() : 0)
                        | (completion.hasRouteHeader() ? rdma_h.IBV_WC_GRH() : 0));
    }

    /** Moves completions to an array of {@code ibv_wc}. Returns how many. */
    int poll(int most, long target) {
        if (count == 0) {
            context.port().progress();
        }
        synchronized (this) {
            var taken = Math.min(most, count);
            var untilWrap = Math.min(taken, capacity - first);
            AddressSpace.copy(ring, first * BYTES, target, untilWrap * BYTES);
            AddressSpace.copy(ring, 0, target + untilWrap * BYTES, (taken - untilWrap) * BYTES);
            first = (first + taken) % capacity;
            count -= taken;
            return taken;
        }
    }

    /** Asks for one event. */
    void requestNotification(boolean solicitedOnly) {
        synchronized (this) {
            if (!solicitedOnly) {
                armed = Armed.ANYTHING;
            } else if (armed == Armed.NOTHING) {
                armed = Armed.SOLICITED;
            }
        }
        context.port().attend();
    }

    /** Changes its capacity; completions stay. */
    synchronized void resize(int wanted) {
        refuseUnlessPossible(wanted);
        if (wanted < count) {
            throw new Refusal(Errno.EINVAL);
        }
        var kept = count;
        var next = newRing(wanted);
        if (kept > 0) {
            poll(kept, next.address());
        }
        ring = next;
        capacity = wanted;
        first = 0;
        count = kept;
        ibv_cq.cqe(structure, wanted);
    }

    private static void refuseUnlessPossible(int capacity) {
        if (capacity < 1 || capacity > DeviceFacts.MAX_COMPLETIONS) {
            throw new Refusal(Errno.EINVAL);
        }
    }

    private static MemorySegment newRing(int capacity) {
        return Arena.ofAuto().allocate(BYTES * capacity, Long.BYTES);
    }

    @Override
    public void stop() {
        users.refuseIfAny(Errno.EBUSY);
        if (channel != null) {
            channel.forget(this);
        }
        context.forgetEvents(asyncEvents);
    }

    @Override
    public void destroy() {
        stop();
        if (channel != null) {
            channel.users().remove();
        }
        context.disown(this);
        Structures.release(structure);
    }
}
