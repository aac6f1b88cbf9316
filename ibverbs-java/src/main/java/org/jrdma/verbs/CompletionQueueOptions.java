package org.jrdma.verbs;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.jspecify.annotations.Nullable;

/** Options of a completion queue. Immutable: each method returns a changed copy. */
@CheckReturnValue
public final class CompletionQueueOptions {

    private final int capacity;
    private boolean waitable;
    private boolean solicitedOnly;
    private int vector;
    private @Nullable Set<CompletionField> fields;
    private boolean singleThreaded;
    private boolean ignoringOverrun;
    private @Nullable ProtectionDomain parentDomain;

    private CompletionQueueOptions(int capacity) {
        this.capacity = capacity;
    }

    private CompletionQueueOptions(CompletionQueueOptions other) {
        capacity = other.capacity;
        waitable = other.waitable;
        solicitedOnly = other.solicitedOnly;
        vector = other.vector;
        fields = other.fields;
        singleThreaded = other.singleThreaded;
        ignoringOverrun = other.ignoringOverrun;
        parentDomain = other.parentDomain;
    }

    private CompletionQueueOptions with(Consumer<CompletionQueueOptions> change) {
        var copy = new CompletionQueueOptions(this);
        change.accept(copy);
        return copy;
    }

    /**
     * Creates options of a queue without completion channel, on completion vector 0.
     *
     * @param capacity the number of completions that the queue must be able to hold; the device may
     *     provide a larger capacity
     */
    public static CompletionQueueOptions capacity(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException(
                    "The capacity of a completion queue must be at least 1, but is " + capacity);
        }
        return new CompletionQueueOptions(capacity);
    }

    /**
     * Gives the queue a completion channel, which {@link CompletionCursor#await} requires. In C:
     * {@code ibv_create_comp_channel}.
     */
    public CompletionQueueOptions waitable() {
        return waitable(false);
    }

    /**
     * Gives the queue a completion channel that wakes up waiting threads only for failed requests
     * and for messages that the sender marked as solicited.
     */
    public CompletionQueueOptions waitableForSolicited() {
        return waitable(true);
    }

    private CompletionQueueOptions waitable(boolean onlyForSolicited) {
        return with(copy -> {
            copy.waitable = true;
            copy.solicitedOnly = onlyForSolicited;
        });
    }

    /**
     * Selects the completion vector, which determines the interrupt of the device that reports
     * events of the queue; 0 by default.
     *
     * @param number the number of the vector, which is less than {@link Device#completionVectors()}
     */
    public CompletionQueueOptions vector(int number) {
        if (number < 0) {
            throw new IllegalArgumentException(
                    "The completion vector must not be negative, but is " + number);
        }
        return with(copy -> copy.vector = number);
    }

    /**
     * Selects the fields that completions have; {@link CompletionField#STANDARD} by default. With
     * this option, polling calls the provider once for each field of each completion. With some
     * devices, selecting fewer fields than the standard ones makes polling faster. With all
     * devices, additional fields make polling slower. In C: {@code ibv_create_cq_ex}, whose queue
     * is polled by {@code ibv_start_poll}.
     */
    public CompletionQueueOptions fields(Set<CompletionField> chosen) {
        var ordered = EnumSet.noneOf(CompletionField.class);
        ordered.addAll(chosen);
        return with(copy -> copy.fields = Collections.unmodifiableSet(ordered));
    }

    /**
     * Allows the provider to access the queue without locks. The SDK does not check that this is
     * safe: the program must make sure that only one thread at a time polls, resizes or closes the
     * queue or closes a queue pair that completes into the queue. Otherwise some providers abort
     * the process. In C: {@code IBV_CREATE_CQ_ATTR_SINGLE_THREADED}.
     */
    public CompletionQueueOptions singleThreadedUnguarded() {
        return with(copy -> copy.singleThreaded = true);
    }

    /**
     * Lets the device discard completions while the queue is full. Without this option, an overrun
     * makes the queue and its queue pairs fail. The option suits programs that do not need each
     * completion. The SDK frees the slot of a request whose completion was discarded only when a
     * later request of the same work queue completes. In C: {@code
     * IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN}.
     */
    public CompletionQueueOptions ignoreOverrun() {
        return with(copy -> copy.ignoringOverrun = true);
    }

    /**
     * Assigns the queue to a parent domain. The restrictions on threads that apply to the queue
     * pairs of the parent domain then also apply to this queue; see {@link
     * ProtectionDomain#newParentDomainUnguarded}. In C: {@code IBV_CQ_INIT_ATTR_MASK_PD}.
     *
     * @throws IllegalArgumentException if the domain is not a parent domain
     */
    public CompletionQueueOptions parentDomain(ProtectionDomain domain) {
        if (!domain.domainHandle().isParent()) {
            throw new IllegalArgumentException(
                    domain
                            + " is not a parent domain. Create one with"
                            + " newParentDomainUnguarded().");
        }
        return with(copy -> copy.parentDomain = domain);
    }

    NativeCompletionQueue.Config config() {
        return new NativeCompletionQueue.Config(
                capacity,
                waitable,
                solicitedOnly,
                vector,
                fields != null
                        || singleThreaded
                        || ignoringOverrun
                        || parentDomain != null, // These options require ibv_create_cq_ex.
                fields(),
                singleThreaded,
                ignoringOverrun,
                parentDomain == null ? null : parentDomain.domainHandle());
    }

    /** The selected fields, or the standard fields if none were selected. */
    Set<CompletionField> fields() {
        return fields == null ? CompletionField.STANDARD : fields;
    }
}
