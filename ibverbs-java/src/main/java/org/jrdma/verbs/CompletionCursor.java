package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Set;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.guard.CallGuard;
import org.jrdma.verbs.internal.Codes;
import org.jrdma.verbs.internal.WorkCompletions;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.queue.CompletionDecoder;
import org.jrdma.verbs.queue.CompletionTable;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jspecify.annotations.Nullable;

/**
 * Takes completions from a {@link CompletionQueue}, a batch at a time, without allocating.
 *
 * <pre>{@code
 * cursor.poll();
 * while (cursor.next()) {
 *     handle(cursor.id(), cursor.status());
 * }
 * }</pre>
 *
 * <p>Belongs to the thread that made it; others get WrongThreadException. The slots of a completed
 * request are free from its {@link #next()} on.
 */
public final class CompletionCursor implements AutoCloseable {

    private final Thread owner = Thread.currentThread();
    private final CallGuard guard = CallGuard.ofCurrentThread();
    private final CompletionQueue queue;
    private final Lifetime lifetime;
    private final NativeCompletionQueue<PolledWorkQueue> nativeQueue;
    private final CompletionTable<PolledWorkQueue> table;
    private final WorkCompletions batch;

    private final Set<CompletionField> told;

    private int count;
    private int current = -1;
    private long id;

    /** What the completion is of; its queue pair may be closed since. */
    private @Nullable PolledWorkQueue given;

    private boolean closed;

    CompletionCursor(CompletionQueue queue, int batch) {
        this.queue = queue;
        this.lifetime = queue.ownLifetime();
        this.nativeQueue = queue.nativeQueue();
        this.table = queue.nativeQueue().attachments().table();
        this.batch = new WorkCompletions(batch);
        this.told = queue.fields();
    }

    /**
     * Takes what completions there are, up to a batch; those of the last batch that were not looked
     * at come first. Does not wait. In C: {@code ibv_poll_cq}; of a queue with {@link
     * CompletionQueueOptions#withFields chosen fields}, {@code ibv_start_poll}, {@code
     * ibv_next_poll} and {@code ibv_end_poll}.
     *
     * @return how many completions {@link #next()} will give at most: those of closed queue pairs
     *     count here, and are passed over there
     * @throws IllegalStateException if the queue is closed
     */
    public int poll() {
        checkThread();
        var left = count - current - 1;
        if (left > 0) {
            return left;
        }
        current = -1;
        count = 0;
        guard.enter();
        try {
            if (closed || lifetime.isClosed()) {
                throw closed
                        ? new IllegalStateException("The cursor is closed")
                        : lifetime.closedException();
            }
            count = nativeQueue.poll(batch);
        } finally {
            guard.exit();
            Reference.reachabilityFence(this);
        }
        return count;
    }

    /**
     * Goes to the next completion of the batch; false when there is none. Those of closed queue
     * pairs are passed over.
     */
    public boolean next() {
        checkThread();
        while (++current < count) {
            var number = batch.requestNumber(current);
            var work = table.find(number);
            if (work != null) {
                id = work.complete((int) number);
                if (!work.isMarker((int) number)) {
                    given = work;
                    return true;
                }
                work.markerIsOver();
                nativeQueue.attachments().returnSpare(work);
            }
        }
        current = count;
        return false;
    }

    /**
     * Polls, and if there is nothing waits until there is. A completion that comes between the poll
     * and the wait is not missed: the queue is asked for an event, polled once more, and only then
     * waited for. The wait costs a few system calls and tens of microseconds; whoever can spare a
     * processor polls instead. In C: {@code ibv_req_notify_cq}, {@code ibv_get_cq_event}, {@code
     * ibv_ack_cq_events}.
     *
     * @return how many completions {@link #next()} will give at most; 0 when the time is over
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if the queue is closed, before or meanwhile, or was not made
     *     waitable
     */
    public int await(Duration timeout) throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        while (true) {
            var found = poll();
            if (found > 0) {
                return found;
            }
            var ticket = queue.ticket(); // before arming: another cursor may take the event
            nativeQueue.arm();
            found = poll();
            if (found > 0) {
                return found;
            }
            if (!queue.awaitEvent(ticket, deadline)) {
                return poll();
            }
            queue.takeEvents();
        }
    }

    /** The number that the request was given. */
    public long id() {
        checkPosition();
        return id;
    }

    /** Whether the request was done. */
    public boolean isSuccess() {
        checkPosition();
        return batch.status(current) == 0;
    }

    /** How the request ended. */
    public CompletionStatus status() {
        checkPosition();
        return Codes.COMPLETION_STATUS.of(batch.status(current));
    }

    /**
     * What was completed; of no meaning unless the status is success. In C: {@code
     * ibv_wc_read_opcode}.
     */
    public CompletionKind kind() {
        checkPosition();
        return Codes.COMPLETION_KIND.of(batch.opcode(current));
    }

    /**
     * How many bytes arrived, for a receive, a read or an atomic that succeeded. In C: {@code
     * ibv_wc_read_byte_len}.
     */
    public int bytes() {
        checkTold(CompletionField.BYTES);
        return batch.byteLength(current);
    }

    /** Whether the sender's immediate data came with it. In C: {@code ibv_wc_read_wc_flags}. */
    public boolean hasImmediate() {
        checkTold(CompletionField.IMMEDIATE);
        return batch.hasImmediate(current);
    }

    /** The sender's immediate data. In C: {@code ibv_wc_read_imm_data}. */
    public int immediate() {
        checkTold(CompletionField.IMMEDIATE);
        return batch.immediate(current);
    }

    /** Whether the sender has taken a memory window away with it. In C: {@code IBV_WC_WITH_INV}. */
    public boolean hasInvalidated() {
        checkTold(CompletionField.IMMEDIATE);
        return batch.hasInvalidated(current);
    }

    /** The key that the window had. In C: {@code ibv_wc_read_invalidated_rkey}. */
    public int invalidatedKey() {
        checkTold(CompletionField.IMMEDIATE);
        return batch.invalidatedKey(current);
    }

    /**
     * The number of the queue pair that the request was posted to, or that took it from a shared
     * receive queue. In C: {@code ibv_wc_read_qp_num}.
     */
    public int queuePairNumber() {
        checkTold(CompletionField.QUEUE_PAIR);
        return batch.queuePairNumber(current);
    }

    /**
     * The number of the queue pair that a datagram came from, for a receive on a queue pair of
     * datagrams that succeeded; of no meaning otherwise. The rest is in {@link #completion()}. In
     * C: {@code ibv_wc_read_src_qp}.
     */
    public int sourceQueuePairNumber() {
        checkTold(CompletionField.SOURCE_QUEUE_PAIR);
        return batch.sourceQueuePairNumber(current);
    }

    /**
     * Whether a {@link GlobalRouteHeader} precedes a datagram that was received. In C: {@code
     * IBV_WC_GRH}, {@code ibv_wc_read_wc_flags}.
     */
    public boolean hasGlobalRoute() {
        checkTold(CompletionField.SOURCE_QUEUE_PAIR);
        return batch.hasGlobalRoute(current);
    }

    /**
     * Whether the device has checked the IPv4, TCP and UDP checksums of a packet that was received,
     * and found them right; where it can is said by {@link DeviceCapability#RAW_CHECKSUM}. False
     * may mean that it has not looked. An extended completion queue tells it where it tells {@link
     * CompletionField#IMMEDIATE}. In C: {@code IBV_WC_IP_CSUM_OK}, {@code ibv_wc_read_wc_flags}.
     */
    public boolean hasGoodChecksum() {
        checkTold(CompletionField.IMMEDIATE); // with which the flags are read
        return batch.hasGoodChecksum(current);
    }

    /**
     * When it was completed, in ticks of the device's clock: as many a second as {@link
     * ExtendedDeviceAttributes#clockKilohertz} says, of which the bits of {@link
     * ExtendedDeviceAttributes#timestampMask} count. See {@link Device#clock}. In C: {@code
     * ibv_wc_read_completion_ts}.
     */
    public long timestamp() {
        checkTold(CompletionField.TIMESTAMP);
        return batch.timestamp(current);
    }

    /**
     * When it was completed, in nanoseconds since 1970. In C: {@code
     * ibv_wc_read_completion_wallclock_ns}.
     */
    public long wallClockNanos() {
        checkTold(CompletionField.WALL_CLOCK);
        return batch.wallClock(current);
    }

    /**
     * The VLAN tag that the device took from the packet: priority and VLAN. In C: {@code
     * ibv_wc_read_cvlan}.
     */
    public int vlanTag() {
        checkTold(CompletionField.VLAN_TAG);
        return batch.vlanTag(current);
    }

    /**
     * What the rule that the packet came by was marked with. In C: {@code ibv_wc_read_flow_tag}.
     */
    public int flowTag() {
        checkTold(CompletionField.FLOW_TAG);
        return batch.flowTag(current);
    }

    /** The vendor's own code for a failure. In C: {@code ibv_wc_read_vendor_err}. */
    public int vendorError() {
        checkPosition();
        return batch.vendorError(current);
    }

    /**
     * All that is {@link CompletionField#STANDARD}, to keep. Allocates. In C: {@code
     * ibv_wc_read_slid}, {@code ibv_wc_read_sl}, {@code ibv_wc_read_dlid_path_bits}, among others.
     */
    public Completion completion() {
        for (var field : CompletionField.STANDARD) {
            refuseUnlessTold(field);
        }
        checkPosition();
        return CompletionDecoder.decode(batch, current, given);
    }

    /** Ends the cursor. Completions it has taken and not given are lost. */
    @Override
    public void close() {
        checkThread();
        closed = true;
    }

    boolean isOver(CompletionQueue candidate) {
        return queue == candidate;
    }

    private void checkThread() {
        if (Thread.currentThread() != owner) {
            throw new WrongThreadException("This cursor belongs to " + owner);
        }
    }

    private void checkTold(CompletionField field) {
        refuseUnlessTold(field);
        checkPosition();
    }

    private void refuseUnlessTold(CompletionField field) {
        if (!told.contains(field)) {
            throw new IllegalStateException(
                    "%s was not asked to tell %s; withFields() in its options does"
                            .formatted(queue, field));
        }
    }

    private void checkPosition() {
        if (current < 0 || current >= count) {
            throw new IllegalStateException("next() has not given a completion");
        }
    }
}
