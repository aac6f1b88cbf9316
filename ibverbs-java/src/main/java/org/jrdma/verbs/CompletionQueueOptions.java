package org.jrdma.verbs;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.queue.NativeCompletionQueue;

/**
 * How a completion queue is made.
 *
 * @param capacity how many completions it must have room for; the device may give it more
 * @param withEvents whether {@link CompletionCursor#await} can be used, which takes a completion
 *     channel
 * @param solicitedOnly whether only failures and messages that their sender marked as solicited
 *     wake a waiter
 * @param vector the completion vector, below {@link Device#completionVectors()}
 * @param chosenFields what its completions tell, if that was chosen
 * @param singleThreaded whether the provider may leave out its locks
 * @param ignoringOverrun whether the device goes on when the queue is full
 * @param parentDomain the parent domain whose threads alone use it
 */
public record CompletionQueueOptions(
        int capacity,
        boolean withEvents,
        boolean solicitedOnly,
        int vector,
        Optional<Set<CompletionField>> chosenFields,
        boolean singleThreaded,
        boolean ignoringOverrun,
        Optional<ProtectionDomain> parentDomain) {

    /** Refuses numbers that no device could take. */
    public CompletionQueueOptions {
        if (capacity < 1) {
            throw new IllegalArgumentException(
                    "A completion queue has room for at least one: " + capacity);
        }
        if (vector < 0) {
            throw new IllegalArgumentException("Completion vectors count from 0: " + vector);
        }
        chosenFields = chosenFields.map(CompletionQueueOptions::copy);
    }

    private static Set<CompletionField> copy(Set<CompletionField> fields) {
        var copy = EnumSet.noneOf(CompletionField.class);
        copy.addAll(fields);
        return Collections.unmodifiableSet(copy);
    }

    /** A queue that is polled, without events, on vector 0. */
    public static CompletionQueueOptions capacity(int capacity) {
        return new CompletionQueueOptions(
                capacity, false, false, 0, Optional.empty(), false, false, Optional.empty());
    }

    /** The same, and it can be waited for. In C: {@code ibv_create_comp_channel}. */
    public CompletionQueueOptions waitable() {
        return waitable(false);
    }

    /** The same, woken only by failures and by messages marked as solicited. */
    public CompletionQueueOptions waitableForSolicited() {
        return waitable(true);
    }

    private CompletionQueueOptions waitable(boolean forSolicited) {
        return new CompletionQueueOptions(
                capacity,
                true,
                forSolicited,
                vector,
                chosenFields,
                singleThreaded,
                ignoringOverrun,
                parentDomain);
    }

    /** The same, on another completion vector. */
    public CompletionQueueOptions onVector(int number) {
        return new CompletionQueueOptions(
                capacity,
                withEvents,
                solicitedOnly,
                number,
                chosenFields,
                singleThreaded,
                ignoringOverrun,
                parentDomain);
    }

    /**
     * The same, whose completions tell these fields and no others; see {@link
     * CompletionField#STANDARD}. Each field costs a call into the provider for each completion, so
     * less than the standard ones is faster with some devices, and more is slower with all. In C:
     * {@code ibv_create_cq_ex}, whose queue is polled by {@code ibv_start_poll}.
     */
    public CompletionQueueOptions telling(Set<CompletionField> fields) {
        return new CompletionQueueOptions(
                capacity,
                withEvents,
                solicitedOnly,
                vector,
                Optional.of(fields),
                singleThreaded,
                ignoringOverrun,
                parentDomain);
    }

    /**
     * The same, without locks in the provider. Nothing here makes sure that it needs none: the
     * program answers for it that one thread at a time polls or resizes the queue, or closes it or
     * a queue pair that completes into it. Some providers end the process otherwise. In C: {@code
     * IBV_CREATE_CQ_ATTR_SINGLE_THREADED}.
     */
    public CompletionQueueOptions singleThreadedUnguarded() {
        return new CompletionQueueOptions(
                capacity,
                withEvents,
                solicitedOnly,
                vector,
                chosenFields,
                true,
                ignoringOverrun,
                parentDomain);
    }

    /**
     * The same, but completions that it has no room for are lost, instead of the queue and its
     * queue pairs. For a program that does not look at each; the SDK counts free slots by
     * completions, so those of lost ones are free only when a later one comes. In C: {@code
     * IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN}.
     */
    public CompletionQueueOptions losingWhatOverruns() {
        return new CompletionQueueOptions(
                capacity,
                withEvents,
                solicitedOnly,
                vector,
                chosenFields,
                singleThreaded,
                true,
                parentDomain);
    }

    /**
     * The same, used by the threads of a parent domain only, as its queue pairs are; see {@link
     * ProtectionDomain#newParentDomainUnguarded}. In C: {@code IBV_CQ_INIT_ATTR_MASK_PD}.
     */
    public CompletionQueueOptions inParentDomain(ProtectionDomain domain) {
        if (!domain.domainHandle().isParent()) {
            throw new IllegalArgumentException(
                    domain + " is no parent domain; newParentDomainUnguarded() makes one of it");
        }
        return new CompletionQueueOptions(
                capacity,
                withEvents,
                solicitedOnly,
                vector,
                chosenFields,
                singleThreaded,
                ignoringOverrun,
                Optional.of(domain));
    }

    /** The completion queue that is asked for. */
    NativeCompletionQueue.Wanted wanted() {
        return new NativeCompletionQueue.Wanted(
                capacity,
                withEvents,
                solicitedOnly,
                vector,
                chosenFields.isPresent()
                        || singleThreaded
                        || ignoringOverrun
                        || parentDomain.isPresent(), // ibv_create_cq could not make it
                fields(),
                singleThreaded,
                ignoringOverrun,
                parentDomain.map(ProtectionDomain::domainHandle).orElse(null));
    }

    /** What its completions tell. */
    Set<CompletionField> fields() {
        return chosenFields.orElse(CompletionField.STANDARD);
    }
}
