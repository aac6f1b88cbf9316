package org.jrdma.verbs.queue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.GuardedCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.LockedMemoryAdvice;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jrdma.verbs.internal.SharedReceiveQueueFunctions;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.SharedReceiveQueueAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A native shared receive queue.
 *
 * @param <W> the type of the work queue, which depends on the API: polled or asynchronous
 */
public final class NativeSharedReceiveQueue<W extends WorkQueueSlots> {

    private final DomainHandle domain;
    private final NativeResource resource;
    private final int elements;
    private final SharedReceiveCompletionReservations<W> sharedReservations;
    private final OptionalInt number;

    /** The XRC domain and the completion queue; null for an ordinary shared receive queue. */
    @SuppressWarnings("unused")
    private final @Nullable XrcBinding<W> xrc;

    private NativeSharedReceiveQueue(
            DomainHandle domain,
            NativeResource resource,
            int elements,
            SharedReceiveCompletionReservations<W> sharedReservations,
            OptionalInt number,
            @Nullable XrcBinding<W> xrc) {
        this.domain = domain;
        this.resource = resource;
        this.elements = elements;
        this.sharedReservations = sharedReservations;
        this.number = number;
        this.xrc = xrc;
    }

    /**
     * The XRC domain and the completion queue of an XRC shared receive queue.
     *
     * @param objects the API objects of the domain and the completion queue, which must stay
     *     reachable as long as the shared receive queue
     */
    public record XrcBinding<W extends WorkQueueSlots>(
            NativeResource xrcDomain,
            NativeCompletionQueue<W> completions,
            List<NativeObject> objects) {

        private void attach(SharedReceiveCompletionReservations<W> sharedReservations, int receives)
                throws VerbsException {
            if (!sharedReservations.attach(completions.reservations(), false)) {
                throw new VerbsException(
                        "ibv_create_srq_ex",
                        String.format(
                                Locale.ROOT,
                                "A shared receive queue for %,d receives could overrun the %s, which has a remaining capacity of %,d. Increase its capacity.",
                                receives,
                                completions.lifetime(),
                                completions.reservations().remainingCapacity()));
            }
        }
    }

    /**
     * Creates a shared receive queue.
     *
     * @param elements the maximum number of memory slices in a receive
     * @param queue the work queue that counts the slots
     * @param table the table that maps completions to shared receive queues; the queue is added to
     *     it
     * @param xrc the XRC domain and completion queue of an XRC shared receive queue; null for an
     *     ordinary shared receive queue
     * @param onDestroyed the action to run after the native queue is destroyed
     */
    public static <W extends WorkQueueSlots> NativeSharedReceiveQueue<W> create(
            DomainHandle domain,
            int elements,
            W queue,
            SharedReceiveCompletionReservations<W> sharedReservations,
            CompletedRequestQueueLookup<W> table,
            @Nullable XrcBinding<W> xrc,
            Runnable onDestroyed)
            throws VerbsException {
        FieldRangeChecks.check("number of slices", elements, 1, WorkRequest.MAX_ELEMENTS);
        var device = domain.device();
        var functions = device.library().sharedReceiveQueues();
        var owners = new ArrayList<Lifetime>(List.of(domain.lifetime()));
        if (xrc != null) {
            owners.add(xrc.xrcDomain.lifetime());
            owners.add(xrc.completions.lifetime());
        }
        Lifetime.holdAll(owners);
        var attached = xrc == null ? null : xrc.completions.reservations();
        var isAttached = false;
        try {
            table.add(queue);
            if (xrc != null) {
                xrc.attach(sharedReservations, queue.capacity());
                isAttached = true;
            }
            var address = BlockingCalls.call(() -> create(domain, queue.capacity(), elements, xrc));
            var name = "shared receive queue %x of %s".formatted(address.address(), device.name());
            var forget = device.events().deregistration(address.address());
            var lifetime =
                    new Lifetime(
                            name,
                            owners,
                            () -> {
                                forget.run();
                                try {
                                    functions.destroy(
                                            address,
                                            CheckedCall.to("ibv_destroy_srq", () -> "for " + name));
                                } finally {
                                    table.remove(queue);
                                    if (attached != null) {
                                        sharedReservations.detach(attached);
                                    }
                                    onDestroyed.run();
                                }
                            });
            isAttached = false; // From now on, the destructor of the lifetime detaches the queue.
            return new NativeSharedReceiveQueue<>(
                    domain,
                    new NativeResource(address, lifetime),
                    elements,
                    sharedReservations,
                    xrc == null ? OptionalInt.empty() : number(domain, address, lifetime),
                    xrc);
        } catch (VerbsException | RuntimeException | Error e) {
            table.remove(queue);
            if (isAttached) {
                sharedReservations.detach(attached);
            }
            throw e;
        } finally {
            owners.forEach(Lifetime::release);
        }
    }

    /** Checks a requested capacity and returns it. */
    public static int checkedCapacity(int receives) {
        return FieldRangeChecks.check(
                "number of receives", receives, 1, WorkQueueSlots.MAX_CAPACITY);
    }

    private static MemorySegment create(
            DomainHandle domain, int receives, int elements, @Nullable XrcBinding<?> xrc)
            throws VerbsException {
        var device = domain.device();
        var functions = device.library().sharedReceiveQueues();
        var subject =
                (Supplier<String>)
                        () ->
                                String.format(
                                        Locale.ROOT,
                                        "for %,d receives with %d slices on %s",
                                        receives,
                                        elements,
                                        device.name());
        return xrc == null
                ? functions.create(
                        domain.address(),
                        receives,
                        elements,
                        new CheckedCall("ibv_create_srq", subject, LockedMemoryAdvice::advice))
                : functions.createXrc(
                        device.context(),
                        new SharedReceiveQueueFunctions.XrcSpecification(
                                domain.address(),
                                xrc.xrcDomain.address(),
                                xrc.completions.address()),
                        receives,
                        elements,
                        new CheckedCall("ibv_create_srq_ex", subject, LockedMemoryAdvice::advice));
    }

    /**
     * Queries the number of a new XRC shared receive queue. Closes the queue if the query fails.
     */
    private static OptionalInt number(DomainHandle domain, MemorySegment address, Lifetime lifetime)
            throws VerbsException {
        var device = domain.device();
        try {
            return OptionalInt.of(
                    GuardedCalls.call(
                            lifetime,
                            () ->
                                    device.library()
                                            .sharedReceiveQueues()
                                            .number(
                                                    device.context(),
                                                    address,
                                                    CheckedCall.to(
                                                            "ibv_get_srq_num",
                                                            () -> "for " + lifetime))));
        } catch (Throwable e) {
            lifetime.close();
            throw e;
        }
    }

    public DomainHandle domain() {
        return domain;
    }

    public MemorySegment address() {
        return resource.address();
    }

    public Lifetime lifetime() {
        return resource.lifetime();
    }

    public PostAndPollFunctions hotPath() {
        return domain.device().hotPath();
    }

    public int elements() {
        return elements;
    }

    public SharedReceiveCompletionReservations<W> sharedReservations() {
        return sharedReservations;
    }

    public OptionalInt number() {
        return number;
    }

    /** Queries the attributes of the queue from the device. */
    public SharedReceiveQueueAttributes attributes() throws VerbsException {
        return GuardedCalls.call(
                lifetime(), () -> functions().query(address(), attempt("ibv_query_srq", "")));
    }

    /**
     * Sets the limit: the device raises an event when fewer receives than this number remain in the
     * queue.
     */
    public void limit(int receives) throws VerbsException {
        if (receives < 0 || receives > sharedReservations.capacity()) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "The limit of %,d receives is not in the range of %s, from 0 to its capacity of %,d",
                            receives,
                            lifetime(),
                            sharedReservations.capacity()));
        }
        var detail = String.format(Locale.ROOT, " and a limit of %,d", receives);
        GuardedCalls.run(
                lifetime(),
                () -> functions().limit(address(), receives, attempt("ibv_modify_srq", detail)));
    }

    /**
     * Changes the capacity of the native queue, and then runs {@code slots}, which resizes the work
     * queue.
     *
     * @param receives the new capacity, which was checked
     */
    public void resize(int receives, Runnable slots) throws VerbsException {
        var detail = String.format(Locale.ROOT, " and %,d receives", receives);
        sharedReservations.resize(
                receives,
                () -> {
                    GuardedCalls.run(
                            lifetime(),
                            () ->
                                    functions()
                                            .resize(
                                                    address(),
                                                    receives,
                                                    attempt("ibv_modify_srq", detail)));
                    slots.run();
                });
    }

    /** Creates the exception for a new capacity that is below the number of receives in flight. */
    public IllegalArgumentException capacityTooSmall(int newCapacity, int inFlight) {
        return new IllegalArgumentException(
                String.format(
                        Locale.ROOT,
                        "%s has %,d receives in flight, so its capacity cannot be %,d",
                        lifetime(),
                        inFlight,
                        newCapacity));
    }

    private SharedReceiveQueueFunctions functions() {
        return domain.device().library().sharedReceiveQueues();
    }

    private CheckedCall attempt(String function, String detail) {
        return CheckedCall.to(function, () -> "for " + lifetime() + detail);
    }
}
