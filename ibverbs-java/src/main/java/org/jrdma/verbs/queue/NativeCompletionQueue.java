package org.jrdma.verbs.queue;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.ffi.linkage.Linux;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.HeldCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.CompletionFunctions;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.LockedMemory;
import org.jrdma.verbs.internal.Poller;
import org.jrdma.verbs.internal.ProviderFaults;
import org.jrdma.verbs.internal.VerbsContext;
import org.jrdma.verbs.internal.WorkCompletions;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * An {@code ibv_cq}, the {@code ibv_comp_channel} that serves it alone if events are wanted, and
 * the work queues that complete into it. It refers to no API object, so that a thread that waits
 * for its events does not keep a completion queue that a program forgot.
 */
public final class NativeCompletionQueue<W extends WorkQueue> {

    /** Acknowledging takes a lock in C. */
    private static final int EVENTS_ACKNOWLEDGED_AT_ONCE = 64;

    private final CompletionFunctions functions;
    private final VerbsContext context;
    private final HotPath hotPath;
    private final boolean solicitedOnly;
    private final @Nullable MemorySegment channel;

    /** The channel's; read once, since the structure goes with the channel. */
    private final int descriptor;

    private final int maxCapacity;
    private final Runnable forget;
    private final MemorySegment queue;
    private final long queueAddress;
    private final Poller poller;
    private final Lifetime lifetime;
    private final AtomicInteger unacknowledged = new AtomicInteger();

    private final Attachments<W> attachments;

    /**
     * How a completion queue is made.
     *
     * @param extended whether it is made by {@code ibv_create_cq_ex}
     * @param parentDomain the parent domain whose threads alone use it; null for any threads
     */
    public record Wanted(
            int capacity,
            boolean withEvents,
            boolean solicitedOnly,
            int vector,
            boolean extended,
            Set<CompletionField> fields,
            boolean singleThreaded,
            boolean ignoringOverrun,
            @Nullable DomainHandle parentDomain) {

        /** A plain queue with events, on vector 0. */
        public static Wanted withEvents(int capacity) {
            if (capacity < 1) {
                throw new IllegalArgumentException(
                        "A completion queue has room for at least one: " + capacity);
            }
            return new Wanted(
                    capacity, true, false, 0, false, CompletionField.STANDARD, false, false, null);
        }
    }

    /**
     * Makes a completion queue.
     *
     * @param shared the shared receive queues that can complete there
     */
    public static <W extends WorkQueue> NativeCompletionQueue<W> create(
            DeviceHandle device, Wanted wanted, CompletionTable<W> shared) throws VerbsException {
        var parent = wanted.parentDomain;
        if (parent != null && parent.device() != device) {
            throw new IllegalArgumentException("%s is not of %s".formatted(parent, device));
        }
        var owners =
                parent == null
                        ? List.of(device.lifetime())
                        : List.of(device.lifetime(), parent.lifetime());
        return HeldCalls.call(
                owners, () -> new NativeCompletionQueue<>(device, wanted, owners, shared));
    }

    private NativeCompletionQueue(
            DeviceHandle device, Wanted wanted, List<Lifetime> owners, CompletionTable<W> shared)
            throws VerbsException {
        this.functions = device.library().completions();
        this.context = device.context();
        this.hotPath = device.hotPath();
        this.solicitedOnly = wanted.solicitedOnly;
        this.attachments = new Attachments<>(wanted.capacity, shared);
        var attributes = device.attributes();
        this.maxCapacity = attributes.maxCompletions();
        this.channel = wanted.withEvents ? openChannel(device) : null;
        this.descriptor = channel == null ? -1 : CompletionFunctions.descriptor(channel);
        try {
            this.queue = wanted.extended ? createExtended(device, wanted) : create(device, wanted);
        } catch (VerbsException | RuntimeException | Error e) { // the device's close may have begun
            destroyChannel();
            throw e;
        }
        this.queueAddress = queue.address();
        this.poller =
                wanted.extended
                        ? Poller.extended(
                                hotPath,
                                queue,
                                wanted.fields,
                                ProviderFaults.inNextPoll(attributes))
                        : Poller.plain(hotPath, queueAddress);
        this.forget = device.events().forgetting(queueAddress);
        this.lifetime =
                new Lifetime(
                        "completion queue %x of %s".formatted(queueAddress, device.name()),
                        owners,
                        this::destroy);
    }

    private MemorySegment create(DeviceHandle device, Wanted wanted) throws VerbsException {
        return functions.create(
                device.address(),
                withSpare(wanted.capacity),
                channelOrNull(),
                wanted.vector,
                new Attempt("ibv_create_cq", () -> describe(device, wanted), LockedMemory::advice));
    }

    private MemorySegment createExtended(DeviceHandle device, Wanted wanted) throws VerbsException {
        return functions.createExtended(
                device.context(),
                withSpare(wanted.capacity),
                channelOrNull(),
                wanted.vector,
                new CompletionFunctions.Extension(
                        wanted.fields,
                        wanted.singleThreaded,
                        wanted.ignoringOverrun,
                        wanted.parentDomain == null
                                ? MemorySegment.NULL
                                : wanted.parentDomain.address()),
                new Attempt(
                        "ibv_create_cq_ex",
                        () ->
                                describe(device, wanted)
                                        + " telling "
                                        + wanted.fields
                                        + (wanted.singleThreaded ? ", single-threaded" : "")
                                        + (wanted.ignoringOverrun ? ", ignoring overrun" : ""),
                        errno -> adviceOnExtended(errno, device, wanted)));
    }

    private String adviceOnExtended(int errno, DeviceHandle device, Wanted wanted) {
        if (errno != Errno.EOPNOTSUPP && errno != Errno.EINVAL) {
            return LockedMemory.advice(errno);
        }
        if (!canMake(device, Set.of(), false, false)) {
            return "It has no extended completion queues.";
        }
        var untold =
                wanted.fields.stream()
                        .filter(field -> !canMake(device, Set.of(field), false, false))
                        .toList();
        if (!untold.isEmpty()) {
            return "Its completions do not tell " + untold + ".";
        }
        if (wanted.ignoringOverrun && !canMake(device, Set.of(), false, true)) {
            return "Its completion queues cannot overrun.";
        }
        return wanted.singleThreaded && !canMake(device, Set.of(), true, false)
                ? "It knows no single-threaded completion queues."
                : "";
    }

    /** What a device refuses, it can only be asked by trying. */
    private boolean canMake(
            DeviceHandle device,
            Set<CompletionField> fields,
            boolean singleThreaded,
            boolean ignoringOverrun) {
        try {
            var made =
                    functions.createExtended(
                            device.context(),
                            1,
                            MemorySegment.NULL,
                            0,
                            new CompletionFunctions.Extension(
                                    fields, singleThreaded, ignoringOverrun, MemorySegment.NULL),
                            Attempt.to("ibv_create_cq_ex", () -> "on " + device.name()));
            functions.destroy(made, Attempt.to("ibv_destroy_cq", () -> "on " + device.name()));
            return true;
        } catch (VerbsException _) {
            return false;
        }
    }

    private static String describe(DeviceHandle device, Wanted wanted) {
        return String.format(
                Locale.ROOT,
                "for %,d completions on vector %d of %s",
                wanted.capacity,
                wanted.vector,
                device.name());
    }

    private MemorySegment channelOrNull() {
        return channel == null ? MemorySegment.NULL : channel;
    }

    public MemorySegment address() {
        return queue;
    }

    public Lifetime lifetime() {
        return lifetime;
    }

    /** The descriptor that its events come from. */
    private int descriptor() {
        if (channel == null) {
            throw new IllegalStateException(
                    lifetime + " was made without events; ask for waitable() in its options");
        }
        return descriptor;
    }

    /** One more than asked, for the marker of a {@code drain}, unless the device is at its end. */
    private int withSpare(int capacity) {
        return capacity < maxCapacity ? capacity + 1 : capacity;
    }

    /**
     * Makes the waiter for its events, which close() closes. While this is held: the descriptor is
     * not closed then, and its number not another's.
     */
    public DescriptorWaiter newWaiter(WaiterMaker maker) throws VerbsException {
        lifetime.hold();
        try {
            var waiter = maker.make(descriptor());
            lifetime.onClose(waiter::close);
            return waiter;
        } catch (FabricException e) {
            throw new VerbsException("ibv_create_comp_channel", e.getMessage());
        } finally {
            lifetime.release();
        }
    }

    /** Makes a waiter on a descriptor. */
    @FunctionalInterface
    public interface WaiterMaker {
        /** Makes the waiter. */
        DescriptorWaiter make(int descriptor) throws FabricException;
    }

    /**
     * Fills a batch. For a caller that is inside its guard, or whom close() waits for. Returns how
     * many.
     */
    public int poll(WorkCompletions batch) {
        var count = poller.poll(batch);
        if (count < 0) {
            throw new IllegalStateException(
                    "The poll of %s answered %d".formatted(lifetime, count));
        }
        return count;
    }

    /** Asks for an event at the next completion. */
    public void arm() throws VerbsException {
        lifetime.hold();
        try {
            var errno = hotPath.requestNotification(queueAddress, solicitedOnly);
            if (errno != 0) {
                throw Attempt.to("ibv_req_notify_cq", () -> "for " + lifetime).failed(errno);
            }
        } finally {
            lifetime.release();
        }
    }

    /**
     * Takes the events that there are. They are acknowledged by the batch, which the destruction
     * completes.
     *
     * @return whether there were any
     */
    public boolean takeEvents() throws VerbsException {
        descriptor(); // refuses a queue without events
        var attempt = Attempt.to("ibv_get_cq_event", () -> "for " + lifetime);
        var any = false;
        lifetime.hold();
        try {
            while (functions.takeEvent(channel, attempt)) {
                any = true;
                if (unacknowledged.incrementAndGet() >= EVENTS_ACKNOWLEDGED_AT_ONCE) {
                    functions.acknowledge(queue, unacknowledged.getAndSet(0));
                }
            }
            return any;
        } finally {
            lifetime.release();
        }
    }

    public Attachments<W> attachments() {
        return attachments;
    }

    /** Whether the queue is of a device. */
    public boolean isOf(DeviceHandle device) {
        return context == device.context();
    }

    /**
     * Changes how many completions there is room for.
     *
     * @throws IllegalArgumentException if queue pairs that complete here may need more
     */
    public void resize(int capacity) throws VerbsException {
        attachments.resize(capacity, lifetime, () -> resizeNative(capacity));
    }

    private void resizeNative(int capacity) throws VerbsException {
        lifetime.hold();
        try {
            functions.resize(
                    queue,
                    withSpare(capacity),
                    Attempt.to(
                            "ibv_resize_cq",
                            () ->
                                    String.format(
                                            Locale.ROOT,
                                            "for %,d completions of %s",
                                            capacity,
                                            lifetime)));
        } finally {
            lifetime.release();
        }
    }

    /** Lets one event stand for several completions; see {@code CompletionQueue.moderate}. */
    public void moderate(int completions, Duration atMost) throws VerbsException {
        var microseconds = atMost.toNanos() / 1_000;
        if ((completions & ~0xffff) != 0 || (microseconds & ~0xffff) != 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "Events stand for 0 to 65,535 completions or microseconds, not %,d or %,d",
                            completions,
                            microseconds));
        }
        HeldCalls.run(lifetime, () -> moderate(completions, (int) microseconds));
    }

    private void moderate(int completions, int microseconds) throws VerbsException {
        functions.moderate(
                context,
                queue,
                completions,
                microseconds,
                new Attempt(
                        "ibv_modify_cq",
                        () ->
                                String.format(
                                        Locale.ROOT,
                                        "for an event each %,d completions or %,d microseconds of %s",
                                        completions,
                                        microseconds,
                                        lifetime),
                        errno ->
                                errno == Errno.EOPNOTSUPP
                                        ? "The device has an event for each completion."
                                        : ""));
    }

    private MemorySegment openChannel(DeviceHandle device) throws VerbsException {
        var opened =
                functions.createChannel(
                        device.address(),
                        Attempt.to("ibv_create_comp_channel", () -> "on " + device.name()));
        try {
            Linux.setNonBlocking(CompletionFunctions.descriptor(opened));
            return opened;
        } catch (FabricException e) {
            functions.destroyChannel(
                    opened, Attempt.to("ibv_destroy_comp_channel", () -> "on " + device.name()));
            throw new VerbsException("ibv_create_comp_channel", e.getMessage());
        }
    }

    private void destroy() throws VerbsException {
        forget.run();
        if (channel != null) {
            functions.acknowledge(queue, unacknowledged.getAndSet(0));
        }
        functions.destroy(queue, Attempt.to("ibv_destroy_cq", () -> "for " + lifetime));
        destroyChannel();
    }

    private void destroyChannel() throws VerbsException {
        if (channel != null) {
            functions.destroyChannel(
                    channel,
                    Attempt.to("ibv_destroy_comp_channel", () -> "for a completion channel"));
        }
    }
}
