package org.jrdma.verbs;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.jspecify.annotations.Nullable;

/**
 * Options of a completion queue. Each method changes this object and returns it; a completion queue
 * is not affected by changes after its creation.
 */
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

    /**
     * Options of a queue that is polled, without events, on completion vector 0.
     *
     * @param capacity the number of completions that the queue must be able to hold; the device may
     *     provide more
     */
    public static CompletionQueueOptions capacity(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException(
                    "The capacity of a completion queue must be at least 1, but is " + capacity);
        }
        return new CompletionQueueOptions(capacity);
    }

    /**
     * Gives the queue a completion channel, which {@link CompletionCursor#await} needs. In C:
     * {@code ibv_create_comp_channel}.
     */
    public CompletionQueueOptions waitable() {
        this.waitable = true;
        this.solicitedOnly = false;
        return this;
    }

    /**
     * Gives the queue a completion channel that wakes waiting threads only for failures and for
     * messages that their sender marked as solicited.
     */
    public CompletionQueueOptions waitableForSolicited() {
        this.waitable = true;
        this.solicitedOnly = true;
        return this;
    }

    /**
     * Selects the completion vector; 0 by default.
     *
     * @param number a number below {@link Device#completionVectors()}
     */
    public CompletionQueueOptions vector(int number) {
        if (number < 0) {
            throw new IllegalArgumentException(
                    "The completion vector must not be negative, but is " + number);
        }
        this.vector = number;
        return this;
    }

    /**
     * Selects the fields that completions have, instead of {@link CompletionField#STANDARD}. Each
     * field costs a call into the provider for each completion: fewer fields than the standard ones
     * are faster with some devices, more fields are slower with all. In C: {@code
     * ibv_create_cq_ex}, whose queue is polled by {@code ibv_start_poll}.
     */
    public CompletionQueueOptions withFields(Set<CompletionField> chosen) {
        var copy = EnumSet.noneOf(CompletionField.class);
        copy.addAll(chosen);
        this.fields = Collections.unmodifiableSet(copy);
        return this;
    }

    /**
     * Lets the provider do without locks. The SDK does not check that this is safe: the program
     * must make sure that one thread at a time polls or resizes the queue, or closes it or a queue
     * pair that completes into it. Otherwise some providers end the process. In C: {@code
     * IBV_CREATE_CQ_ATTR_SINGLE_THREADED}.
     */
    public CompletionQueueOptions singleThreadedUnguarded() {
        this.singleThreaded = true;
        return this;
    }

    /**
     * Discards completions if the queue is full; without this option, an overrun makes the queue
     * and its queue pairs fail. For programs that do not look at each completion. The SDK counts
     * free slots by completions, so the slots of discarded ones become free only with a later one.
     * In C: {@code IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN}.
     */
    public CompletionQueueOptions ignoreOverrun() {
        this.ignoringOverrun = true;
        return this;
    }

    /**
     * Restricts the use of the queue to the threads of a parent domain, like that of its queue
     * pairs; see {@link ProtectionDomain#newParentDomainUnguarded}. In C: {@code
     * IBV_CQ_INIT_ATTR_MASK_PD}.
     *
     * @throws IllegalArgumentException if the domain is not a parent domain
     */
    public CompletionQueueOptions parentDomain(ProtectionDomain domain) {
        if (!domain.domainHandle().isParent()) {
            throw new IllegalArgumentException(
                    domain
                            + " is not a parent domain. Create one with newParentDomainUnguarded().");
        }
        this.parentDomain = domain;
        return this;
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
                        || parentDomain != null, // ibv_create_cq has no such options
                fields(),
                singleThreaded,
                ignoringOverrun,
                parentDomain == null ? null : parentDomain.domainHandle());
    }

    /** The fields that completions have. */
    Set<CompletionField> fields() {
        return fields == null ? CompletionField.STANDARD : fields;
    }
}
