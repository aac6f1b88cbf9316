package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.LockedMemory;
import org.jrdma.verbs.internal.SharedReceiveQueueFunctions;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.SharedReceiveQueueAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A queue of places to receive into that several queue pairs share, so that there need not be
 * enough for the worst case of each: a message takes the oldest, whichever queue pair it comes to.
 * Queue pairs are given to it by {@link QueuePairOptions#sharedReceives}.
 *
 * <p>A receive completes where the queue pair that took it completes its receives; so each of those
 * completion queues must have room for all of them, once. A queue pair that fails, is reset or is
 * closed leaves what it has not taken to the others, and raises {@link
 * AsyncEventType#LAST_WORK_REQUEST_REACHED}. What it had taken for a message that was not complete
 * may be lost, on devices that do not flush it; its slot then stays taken.
 *
 * <p>Those of an {@link XrcDomain} are named by who sends to them, and complete all receives in one
 * completion queue of their own.
 *
 * <p>Owned by its {@link ProtectionDomain} and closed with it; closing it closes its queue pairs.
 * In C: {@code struct ibv_srq}; {@link #close()} is {@code ibv_destroy_srq}.
 */
public abstract sealed class SharedReceiveQueue extends NativeObject
        permits PolledSharedReceiveQueue, AsyncSharedReceiveQueue {

    private final ProtectionDomain domain;
    private final long nativeAddress;
    private final int elements;

    SharedReceiveQueue(ProtectionDomain domain, int elements, Made made) {
        super(made.address, made.lifetime);
        this.domain = domain;
        this.nativeAddress = made.address.address();
        this.elements = elements;
        domain.device().announce(this);
    }

    /** The native queue, and the lifetime that ends it. */
    record Made(MemorySegment address, Lifetime lifetime) {}

    /**
     * Makes the native queue, and gives its completions a way to {@code queue}.
     *
     * @param named of one that senders name; null for any other
     * @param afterwards is run when the queue is gone
     */
    static <W extends WorkQueue> Made make(
            ProtectionDomain domain,
            int elements,
            CompletionTable<W> table,
            W queue,
            @Nullable Named<W> named,
            Runnable afterwards)
            throws VerbsException {
        if (queue.capacity() < 1 || elements < 1) {
            throw new IllegalArgumentException(
                    "A shared receive queue has room for at least one receive of one piece, not for %d of %d"
                            .formatted(queue.capacity(), elements));
        }
        var device = domain.device();
        var functions = device.library().sharedReceiveQueues();
        var owners = new ArrayList<Lifetime>(List.of(domain.ownLifetime()));
        if (named != null) {
            named.refuseUnlessOf(device);
            owners.add(named.domain.ownLifetime());
            owners.add(named.completions.ownLifetime());
        }
        Lifetime.holdAll(owners);
        var attached = false;
        try {
            table.add(queue);
            if (named != null) {
                named.attach(queue.capacity());
                attached = true;
            }
            var address =
                    PlatformCalls.call(() -> create(domain, queue.capacity(), elements, named));
            var name = "shared receive queue %x of %s".formatted(address.address(), device.name());
            var forget = device.forgetting(address.address());
            return new Made(
                    address,
                    new Lifetime(
                            name,
                            owners,
                            () -> {
                                forget.run();
                                try {
                                    functions.destroy(
                                            address,
                                            Attempt.to("ibv_destroy_srq", () -> "for " + name));
                                } finally {
                                    table.remove(queue);
                                    if (named != null) {
                                        named.detach();
                                    }
                                    afterwards.run();
                                }
                            }));
        } catch (VerbsException | RuntimeException | Error e) {
            table.remove(queue);
            if (attached) {
                named.detach();
            }
            throw e;
        } finally {
            owners.forEach(Lifetime::release);
        }
    }

    private static MemorySegment create(
            ProtectionDomain domain, int receives, int elements, @Nullable Named<?> named)
            throws VerbsException {
        var device = domain.device();
        var functions = device.library().sharedReceiveQueues();
        var subject =
                (Supplier<String>)
                        () ->
                                String.format(
                                        Locale.ROOT,
                                        "for %,d receives of %d pieces on %s",
                                        receives,
                                        elements,
                                        device.name());
        return named == null
                ? functions.create(
                        domain.address(),
                        receives,
                        elements,
                        new Attempt("ibv_create_srq", subject, LockedMemory::advice))
                : functions.createNamed(
                        device.context(),
                        new SharedReceiveQueueFunctions.Named(
                                domain.address(),
                                named.domain.address(),
                                named.completions.address()),
                        receives,
                        elements,
                        new Attempt("ibv_create_srq_ex", subject, LockedMemory::advice));
    }

    /** Who can name a queue, and where its receives complete. */
    record Named<W extends WorkQueue>(
            XrcDomain domain, CompletionSource<W> completions, Sharing<W> sharing) {

        void refuseUnlessOf(Device device) {
            if (domain.device() != device || completions.device() != device) {
                throw new IllegalArgumentException(
                        "%s and %s are not of %s".formatted(domain, completions, device));
            }
        }

        void attach(int receives) throws VerbsException {
            if (!sharing.attach(completions.attachments(), false)) {
                throw new VerbsException(
                        "ibv_create_srq_ex",
                        String.format(
                                Locale.ROOT,
                                "A shared receive queue for %,d receives could overrun the %s, which has room for %,d more. Make it larger.",
                                receives,
                                completions,
                                completions.room()));
            }
        }

        void detach() {
            sharing.detach(completions.attachments());
        }
    }

    /** The number by which senders name it. */
    static int numberOf(SharedReceiveQueue queue) throws VerbsException {
        return queue.inCall(() ->
                queue.functions()
                        .number(
                                queue.domain.device().context(),
                                queue.address(),
                                queue.attempt("ibv_get_srq_num", "")));
    }

    /** Whether who sends to it names it, so that no queue pair is given to it. */
    boolean isNamedBySenders() {
        return false;
    }

    /** The domain it belongs to, whose queue pairs alone can use it. */
    public final ProtectionDomain domain() {
        return domain;
    }

    /** How many receives there is room for, as asked; the device may have room for more. */
    public final int capacity() {
        return sharing().capacity();
    }

    /** How many pieces of memory a receive can scatter to. */
    public final int elements() {
        return elements;
    }

    /** What the device says of it. In C: {@code ibv_query_srq}. */
    public final SharedReceiveQueueAttributes attributes() throws VerbsException {
        return inCall(() -> functions().query(address(), attempt("ibv_query_srq", "")));
    }

    /**
     * Asks for {@link AsyncEventType#SHARED_RECEIVE_QUEUE_LIMIT_REACHED}, once, when a message
     * takes a receive and fewer than {@code receives} are left; 0 asks for none. In C: {@code
     * ibv_modify_srq} with {@code IBV_SRQ_LIMIT}.
     *
     * @throws IllegalArgumentException if it is negative, or more than there is room for
     * @throws VerbsException if the device refuses it
     */
    public final void limit(int receives) throws VerbsException {
        if (receives < 0 || receives > capacity()) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "A limit of %,d receives can never be reached by %s, which has room for %,d",
                            receives,
                            this,
                            capacity()));
        }
        inCall(() -> {
            functions()
                    .limit(
                            address(),
                            receives,
                            attempt(
                                    "ibv_modify_srq",
                                    String.format(Locale.ROOT, " and a limit of %,d", receives)));
            return this;
        });
    }

    /** Resizes the native queue, with the room that its completions need. */
    final void resize(int receives, Runnable slots) throws VerbsException {
        if (receives < 1) {
            throw new IllegalArgumentException(
                    "%s cannot have room for %d receives".formatted(this, receives));
        }
        sharing()
                .resize(
                        receives,
                        () -> {
                            inCall(() -> {
                                functions()
                                        .resize(
                                                address(),
                                                receives,
                                                attempt(
                                                        "ibv_modify_srq",
                                                        String.format(
                                                                Locale.ROOT,
                                                                " and %,d receives",
                                                                receives)));
                                return this;
                            });
                            slots.run();
                        });
    }

    final IllegalArgumentException tooSmall(int newCapacity, int underWay) {
        return new IllegalArgumentException(
                String.format(
                        Locale.ROOT,
                        "%s has %,d receives under way, and cannot have room for %,d only",
                        this,
                        underWay,
                        newCapacity));
    }

    /** Who receives from it. */
    abstract Sharing<?> sharing();

    /** Where it is in C, also while it is being closed: for callers whom close() waits for. */
    final long nativeAddress() {
        return nativeAddress;
    }

    final Lifetime ownLifetime() {
        return lifetime();
    }

    private SharedReceiveQueueFunctions functions() {
        return domain.device().library().sharedReceiveQueues();
    }

    private Attempt attempt(String function, String what) {
        return Attempt.to(function, () -> "for " + this + what);
    }

    private <T> T inCall(Device.DeviceCall<T> call) throws VerbsException {
        lifetime().hold();
        try {
            return PlatformCalls.call(call::run);
        } finally {
            lifetime().release();
        }
    }
}
