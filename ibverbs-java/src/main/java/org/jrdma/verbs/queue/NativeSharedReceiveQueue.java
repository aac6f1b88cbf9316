package org.jrdma.verbs.queue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.HeldCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.LockedMemory;
import org.jrdma.verbs.internal.SharedReceiveQueueFunctions;
import org.jrdma.verbs.model.SharedReceiveQueueAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** A native shared receive queue, with the work queue that counts its slots. */
public final class NativeSharedReceiveQueue<W extends WorkQueue> {

    private final DomainHandle domain;
    private final NativeResource resource;
    private final int elements;
    private final Sharing<W> sharing;
    private final OptionalInt number;

    /** Kept for the API objects that it keeps reachable. */
    @SuppressWarnings("unused")
    private final @Nullable Named<W> named;

    private NativeSharedReceiveQueue(
            DomainHandle domain,
            NativeResource resource,
            int elements,
            Sharing<W> sharing,
            OptionalInt number,
            @Nullable Named<W> named) {
        this.domain = domain;
        this.resource = resource;
        this.elements = elements;
        this.sharing = sharing;
        this.number = number;
        this.named = named;
    }

    /**
     * The XRC domain of a queue that senders name, and where its receives complete.
     *
     * @param objects the API objects of both, kept reachable by the queue
     */
    public record Named<W extends WorkQueue>(
            NativeResource xrcDomain,
            NativeCompletionQueue<W> completions,
            List<NativeObject> objects) {

        private void attach(Sharing<W> sharing, int receives) throws VerbsException {
            if (!sharing.attach(completions.attachments(), false)) {
                throw new VerbsException(
                        "ibv_create_srq_ex",
                        String.format(
                                Locale.ROOT,
                                "A shared receive queue for %,d receives could overrun the %s, which has room for %,d more. Make it larger.",
                                receives,
                                completions.lifetime(),
                                completions.attachments().room()));
            }
        }
    }

    /**
     * Makes a shared receive queue.
     *
     * @param table gets the queue, so that completions find it
     * @param named of a queue that senders name; null for one that is given to queue pairs
     * @param afterwards is run when the native queue is destroyed
     */
    public static <W extends WorkQueue> NativeSharedReceiveQueue<W> create(
            DomainHandle domain,
            int elements,
            W queue,
            Sharing<W> sharing,
            CompletionTable<W> table,
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
        var owners = new ArrayList<Lifetime>(List.of(domain.lifetime()));
        if (named != null) {
            owners.add(named.xrcDomain.lifetime());
            owners.add(named.completions.lifetime());
        }
        Lifetime.holdAll(owners);
        var attached = named == null ? null : named.completions.attachments();
        var isAttached = false;
        try {
            table.add(queue);
            if (named != null) {
                named.attach(sharing, queue.capacity());
                isAttached = true;
            }
            var address =
                    PlatformCalls.call(() -> create(domain, queue.capacity(), elements, named));
            var name = "shared receive queue %x of %s".formatted(address.address(), device.name());
            var forget = device.events().forgetting(address.address());
            var lifetime =
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
                                    if (attached != null) {
                                        sharing.detach(attached);
                                    }
                                    afterwards.run();
                                }
                            });
            isAttached = false; // the lifetime detaches from here on
            return new NativeSharedReceiveQueue<>(
                    domain,
                    new NativeResource(address, lifetime),
                    elements,
                    sharing,
                    named == null ? OptionalInt.empty() : number(domain, address, lifetime),
                    named);
        } catch (VerbsException | RuntimeException | Error e) {
            table.remove(queue);
            if (isAttached) {
                sharing.detach(attached);
            }
            throw e;
        } finally {
            owners.forEach(Lifetime::release);
        }
    }

    private static MemorySegment create(
            DomainHandle domain, int receives, int elements, @Nullable Named<?> named)
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
                                named.xrcDomain.address(),
                                named.completions.address()),
                        receives,
                        elements,
                        new Attempt("ibv_create_srq_ex", subject, LockedMemory::advice));
    }

    /** Asks for the number of a queue that was just made; closes the queue if that fails. */
    private static OptionalInt number(DomainHandle domain, MemorySegment address, Lifetime lifetime)
            throws VerbsException {
        var device = domain.device();
        try {
            return OptionalInt.of(
                    HeldCalls.call(
                            lifetime,
                            () ->
                                    device.library()
                                            .sharedReceiveQueues()
                                            .number(
                                                    device.context(),
                                                    address,
                                                    Attempt.to(
                                                            "ibv_get_srq_num",
                                                            () -> "for " + lifetime))));
        } catch (VerbsException | RuntimeException e) {
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

    public HotPath hotPath() {
        return domain.device().hotPath();
    }

    public int elements() {
        return elements;
    }

    public Sharing<W> sharing() {
        return sharing;
    }

    public OptionalInt number() {
        return number;
    }

    /** Asks the device for the attributes of the queue. */
    public SharedReceiveQueueAttributes attributes() throws VerbsException {
        return HeldCalls.call(
                lifetime(), () -> functions().query(address(), attempt("ibv_query_srq", "")));
    }

    /** Asks for an event when fewer receives are left. */
    public void limit(int receives) throws VerbsException {
        if (receives < 0 || receives > sharing.capacity()) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "A limit of %,d receives can never be reached by %s, which has room for %,d",
                            receives,
                            lifetime(),
                            sharing.capacity()));
        }
        var what = String.format(Locale.ROOT, " and a limit of %,d", receives);
        HeldCalls.run(
                lifetime(),
                () -> functions().limit(address(), receives, attempt("ibv_modify_srq", what)));
    }

    /** Resizes the native queue and, by {@code slots}, the queue that counts its slots. */
    public void resize(int receives, Runnable slots) throws VerbsException {
        if (receives < 1) {
            throw new IllegalArgumentException(
                    "%s cannot have room for %d receives".formatted(lifetime(), receives));
        }
        var what = String.format(Locale.ROOT, " and %,d receives", receives);
        sharing.resize(
                receives,
                () -> {
                    HeldCalls.run(
                            lifetime(),
                            () ->
                                    functions()
                                            .resize(
                                                    address(),
                                                    receives,
                                                    attempt("ibv_modify_srq", what)));
                    slots.run();
                });
    }

    /** The exception for a capacity below the number of receives in flight. */
    public IllegalArgumentException tooSmall(int newCapacity, int inFlight) {
        return new IllegalArgumentException(
                String.format(
                        Locale.ROOT,
                        "%s has %,d receives under way, and cannot have room for %,d only",
                        lifetime(),
                        inFlight,
                        newCapacity));
    }

    private SharedReceiveQueueFunctions functions() {
        return domain.device().library().sharedReceiveQueues();
    }

    private Attempt attempt(String function, String what) {
        return Attempt.to(function, () -> "for " + lifetime() + what);
    }
}
