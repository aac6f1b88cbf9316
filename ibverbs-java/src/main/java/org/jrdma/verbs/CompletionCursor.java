package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.guard.CallGuard;
import org.jrdma.verbs.internal.VerbsEnumCodes;
import org.jrdma.verbs.internal.WorkCompletions;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.queue.CompletedRequestQueueLookup;
import org.jrdma.verbs.queue.CompletionDecoder;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jspecify.annotations.Nullable;

/**
 * A cursor that polls a {@link CompletionQueue} in batches without allocating.
 *
 * <pre>{@code
 * cursor.poll();
 * while (cursor.next()) {
 *     handle(cursor.id(), cursor.status());
 * }
 * }</pre>
 *
 * <p>A cursor is confined to the thread that created it; other threads may call only {@link
 * #wake()} and get a WrongThreadException from the other methods. {@link #next()} frees the slots
 * of the completed request and of the unsignaled requests before it.
 */
public final class CompletionCursor implements AutoCloseable {

    private final Thread owner = Thread.currentThread();
    private final CallGuard guard = CallGuard.ofCurrentThread();
    private final CompletionQueue queue;
    private final Lifetime lifetime;
    private final NativeCompletionQueue<PolledWorkQueueSlots> nativeQueue;
    private final CompletedRequestQueueLookup<PolledWorkQueueSlots> table;
    private final WorkCompletions batch;

    private final Set<CompletionField> fields;

    /** True if a call of {@link #wake} has not ended a wait yet. */
    private final AtomicBoolean woken = new AtomicBoolean();

    private int count;
    private int current = -1;
    private long id;

    /**
     * The work queue of the request that the current completion reports. The queue pair of the work
     * queue may have been closed since.
     */
    private @Nullable PolledWorkQueueSlots workQueue;

    private boolean closed;

    CompletionCursor(CompletionQueue queue, int batch) {
        this.queue = queue;
        this.lifetime = queue.ownLifetime();
        this.nativeQueue = queue.nativeQueue();
        this.table = queue.nativeQueue().reservations().table();
        this.batch = new WorkCompletions(batch);
        this.fields = queue.fields();
    }

    /**
     * Polls for at most one batch of completions without waiting. Does not poll if the last batch
     * has completions that {@link #next()} has not moved to yet. In C: {@code ibv_poll_cq}; for a
     * queue with {@link CompletionQueueOptions#fields selected fields}, {@code ibv_start_poll},
     * {@code ibv_next_poll} and {@code ibv_end_poll}.
     *
     * @return the maximum number of completions that {@link #next()} can still move to. The number
     *     includes completions of closed queue pairs, which {@code next()} skips
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
                throw closed ? closedException() : lifetime.closedException();
            }
            count = nativeQueue.poll(batch);
        } finally {
            guard.exit();
            Reference.reachabilityFence(this);
        }
        return count;
    }

    /**
     * Moves to the next completion of the batch, skipping completions of closed queue pairs.
     * Returns false if the batch has no more completions.
     *
     * @throws IllegalStateException if the cursor is closed
     */
    public boolean next() {
        checkThread();
        while (++current < count) {
            var number = batch.requestNumber(current);
            var work = table.find(number);
            if (work != null) {
                id = work.complete((int) number);
                if (!work.isMarker((int) number)) {
                    workQueue = work;
                    return true;
                }
                work.clearMarker();
                nativeQueue.reservations().releaseMarkerSlot(work);
            }
        }
        current = count;
        if (closed) {
            throw closedException();
        }
        return false;
    }

    /**
     * Polls as {@link #poll()} does, and waits until a completion arrives if there is none. A
     * completion that arrives between the poll and the wait is not missed, because the queue is
     * armed and polled again before the wait. Waiting takes a few system calls and tens of
     * microseconds; latency-critical programs call {@link #poll()} in a loop instead. In C: {@code
     * ibv_req_notify_cq}, {@code ibv_get_cq_event}, {@code ibv_ack_cq_events}.
     *
     * @return the maximum number of completions that {@link #next()} can still move to, or 0 if the
     *     wait timed out or was ended by {@link #wake()}
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if the queue is closed before or during the wait, or was
     *     created without a completion channel; see {@link CompletionQueueOptions#waitable}
     */
    public int await(Duration timeout) throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        while (true) {
            var found = poll();
            if (found > 0) {
                return found;
            }
            // Obtained before the queue is armed. Otherwise, this thread could miss an event that
            // another cursor takes.
            var ticket = queue.ticket();
            nativeQueue.arm();
            found = poll();
            if (found > 0) {
                return found;
            }
            if (woken.getAndSet(false) || !queue.awaitEvent(ticket, deadline)) {
                return poll();
            }
            queue.takeEvents();
        }
    }

    /**
     * Ends a wait in {@link #await} early. If the thread of this cursor is not waiting, its next
     * wait ends immediately. Several calls before the end of a wait have the effect of one call.
     * May be called by any thread.
     *
     * @throws IllegalStateException if the queue was created without a completion channel; see
     *     {@link CompletionQueueOptions#waitable}
     */
    public void wake() {
        woken.set(true);
        queue.wakeWaiters();
    }

    /** The {@linkplain PreparedRequest#id(long) id} of the completed request. */
    public long id() {
        checkPosition();
        return id;
    }

    /** Returns true if the completed request succeeded. */
    public boolean isSuccess() {
        checkPosition();
        return batch.status(current) == 0;
    }

    /** The status of the completed request. */
    public CompletionStatus status() {
        checkPosition();
        return VerbsEnumCodes.COMPLETION_STATUS.of(batch.status(current));
    }

    /**
     * The kind of operation that completed; undefined if the request failed. In C: {@code
     * ibv_wc_read_opcode}.
     */
    public CompletionKind kind() {
        checkPosition();
        return VerbsEnumCodes.COMPLETION_KIND.of(batch.opcode(current));
    }

    /**
     * The number of bytes that a receive, a read or an atomic operation transferred; undefined for
     * other operations and for requests that failed. In C: {@code ibv_wc_read_byte_len}.
     */
    public int bytes() {
        checkField(CompletionField.BYTES);
        return batch.byteLength(current);
    }

    /**
     * Returns true if the completion contains immediate data. In C: {@code ibv_wc_read_wc_flags}.
     */
    public boolean hasImmediate() {
        checkField(CompletionField.IMMEDIATE);
        return batch.hasImmediate(current);
    }

    /**
     * The immediate data from the sender; undefined if {@link #hasImmediate()} is false. In C:
     * {@code ibv_wc_read_imm_data}.
     */
    public int immediate() {
        checkField(CompletionField.IMMEDIATE);
        return batch.immediate(current);
    }

    /**
     * Returns true if the received message invalidated a memory window of this side. In C: {@code
     * IBV_WC_WITH_INV}.
     */
    public boolean hasInvalidated() {
        checkField(CompletionField.IMMEDIATE);
        return batch.hasInvalidated(current);
    }

    /**
     * The remote key of the memory window that the received message invalidated; undefined if
     * {@link #hasInvalidated()} is false. In C: {@code ibv_wc_read_invalidated_rkey}.
     */
    public int invalidatedKey() {
        checkField(CompletionField.IMMEDIATE);
        return batch.invalidatedKey(current);
    }

    /**
     * The number of the queue pair that the request was posted to or, for a receive of a shared
     * receive queue, of the queue pair that consumed it. In C: {@code ibv_wc_read_qp_num}.
     */
    public int queuePairNumber() {
        checkField(CompletionField.QUEUE_PAIR);
        return batch.queuePairNumber(current);
    }

    /**
     * The number of the queue pair that sent a datagram, for a successful receive of a datagram
     * queue pair; undefined otherwise. {@link #completion()} contains the other parts of the
     * source. In C: {@code ibv_wc_read_src_qp}.
     */
    public int sourceQueuePairNumber() {
        checkField(CompletionField.SOURCE_QUEUE_PAIR);
        return batch.sourceQueuePairNumber(current);
    }

    /**
     * Returns true if a {@link GlobalRouteHeader} precedes the received datagram. In C: {@code
     * IBV_WC_GRH}, {@code ibv_wc_read_wc_flags}.
     */
    public boolean hasGlobalRoute() {
        checkField(CompletionField.SOURCE_QUEUE_PAIR);
        return batch.hasGlobalRoute(current);
    }

    /**
     * Returns true if the device verified the IPv4, TCP and UDP checksums of a received packet. The
     * value false can also mean that the device did not check them; {@link
     * DeviceCapability#RAW_CHECKSUM} indicates a device that can. On an extended completion queue,
     * this value requires {@link CompletionField#IMMEDIATE}. In C: {@code IBV_WC_IP_CSUM_OK},
     * {@code ibv_wc_read_wc_flags}.
     */
    public boolean hasGoodChecksum() {
        checkField(CompletionField.IMMEDIATE); // This field selects the completion flags.
        return batch.hasGoodChecksum(current);
    }

    /**
     * The time of the completion in ticks of the device clock, whose frequency is {@link
     * ExtendedDeviceAttributes#clockKilohertz}. Only the bits of {@link
     * ExtendedDeviceAttributes#timestampMask} are significant. See {@link Device#clock}. In C:
     * {@code ibv_wc_read_completion_ts}.
     */
    public long timestamp() {
        checkField(CompletionField.TIMESTAMP);
        return batch.timestamp(current);
    }

    /**
     * The time of the completion in nanoseconds since 1970. In C: {@code
     * ibv_wc_read_completion_wallclock_ns}.
     */
    public long wallClockNanos() {
        checkField(CompletionField.WALL_CLOCK);
        return batch.wallClock(current);
    }

    /**
     * The VLAN tag that the device removed from the packet: priority and VLAN ID. In C: {@code
     * ibv_wc_read_cvlan}.
     */
    public int vlanTag() {
        checkField(CompletionField.VLAN_TAG);
        return batch.vlanTag(current);
    }

    /** The tag of the flow rule that matched the packet. In C: {@code ibv_wc_read_flow_tag}. */
    public int flowTag() {
        checkField(CompletionField.FLOW_TAG);
        return batch.flowTag(current);
    }

    /** The vendor-specific error code of a failed request. In C: {@code ibv_wc_read_vendor_err}. */
    public int vendorError() {
        checkPosition();
        return batch.vendorError(current);
    }

    /**
     * Returns an immutable copy of the {@link CompletionField#STANDARD} fields. Allocates. In C:
     * {@code ibv_wc_read_slid}, {@code ibv_wc_read_sl}, {@code ibv_wc_read_dlid_path_bits}, among
     * others.
     */
    public Completion completion() {
        for (var field : CompletionField.STANDARD) {
            checkSelected(field);
        }
        checkPosition();
        return CompletionDecoder.decode(batch, current, workQueue);
    }

    /**
     * Closes the cursor. Completions of the last batch that {@link #next()} has not moved to are
     * lost.
     */
    @Override
    public void close() {
        checkThread();
        closed = true;
        count = 0;
        current = 0;
        workQueue = null;
    }

    private static IllegalStateException closedException() {
        return new IllegalStateException("The cursor is closed");
    }

    boolean isOver(CompletionQueue candidate) {
        return queue == candidate;
    }

    private void checkThread() {
        if (Thread.currentThread() != owner) {
            throw new WrongThreadException(
                    "This cursor is confined to the thread that created it: " + owner);
        }
    }

    private void checkField(CompletionField field) {
        checkSelected(field);
        checkPosition();
    }

    private void checkSelected(CompletionField field) {
        if (!fields.contains(field)) {
            throw new IllegalStateException(
                    "%s does not report %s. Select the field with fields() in the options of the queue."
                            .formatted(queue, field));
        }
    }

    private void checkPosition() {
        if (current < 0 || current >= count) {
            throw new IllegalStateException(
                    "There is no current completion; next() must return true first");
        }
    }
}
