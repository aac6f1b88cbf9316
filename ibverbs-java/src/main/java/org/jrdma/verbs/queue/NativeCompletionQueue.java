package org.jrdma.verbs.queue;

import static java.util.Objects.requireNonNull;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.GuardedCalls;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.CompletionFunctions;
import org.jrdma.verbs.internal.CompletionFunctions.EventMemory;
import org.jrdma.verbs.internal.CompletionPoller;
import org.jrdma.verbs.internal.LockedMemoryAdvice;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jrdma.verbs.internal.ProviderDefects;
import org.jrdma.verbs.internal.VerbsContext;
import org.jrdma.verbs.internal.WorkCompletions;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A native completion queue with the work queues that use it and, if it was created with events,
 * its own completion channel. Holds no reference to an API object, so that a thread that waits for
 * events does not keep an unclosed completion queue reachable. In C: {@code struct ibv_cq}, {@code
 * struct ibv_comp_channel}.
 */
public final class NativeCompletionQueue<W extends WorkQueueSlots> {

    /**
     * The number of events that are acknowledged by one call, because each acknowledgment takes a
     * lock in C.
     */
    private static final int EVENTS_ACKNOWLEDGED_AT_ONCE = 64;

    private final CompletionFunctions functions;
    private final VerbsContext context;
    private final PostAndPollFunctions hotPath;
    private final boolean solicitedOnly;
    private final @Nullable MemorySegment channel;

    /**
     * The descriptor of the channel; -1 without a channel. Copied, because the native structure
     * that contains the descriptor is freed with the channel.
     */
    private final int descriptor;

    /**
     * The memory for the results of {@link #takeEvents}, and the name of the call for errors. Null
     * without a channel.
     */
    private final @Nullable EventMemory event;

    private final CheckedCall takeEvent;
    private final int maxCapacity;
    private final Runnable forget;
    private final MemorySegment queue;
    private final long queueAddress;
    private final CompletionPoller poller;
    private final Lifetime lifetime;
    private final AtomicInteger unacknowledged = new AtomicInteger();

    private final CompletionQueueReservations<W> reservations;

    /**
     * The configuration of a completion queue.
     *
     * @param withEvents true to create a completion channel, on which threads can wait for events
     * @param solicitedOnly true if only completions of solicited messages and failures cause events
     * @param vector the completion vector: the number of the interrupt that reports events
     * @param extended true to create the queue by {@code ibv_create_cq_ex}
     * @param parentDomain the parent domain whose thread domain restricts the use of the queue;
     *     null if any thread may use it
     */
    public record Config(
            int capacity,
            boolean withEvents,
            boolean solicitedOnly,
            int vector,
            boolean extended,
            Set<CompletionField> fields,
            boolean singleThreaded,
            boolean ignoringOverrun,
            @Nullable DomainHandle parentDomain) {}

    /**
     * Creates a completion queue.
     *
     * @param shared the shared receive queues whose receives can complete in the queue
     */
    public static <W extends WorkQueueSlots> NativeCompletionQueue<W> create(
            DeviceHandle device, Config config, CompletedRequestQueueLookup<W> shared)
            throws VerbsException {
        var parent = config.parentDomain;
        if (parent != null && parent.device() != device) {
            throw new IllegalArgumentException(
                    "%s does not belong to %s".formatted(parent, device));
        }
        var owners =
                parent == null
                        ? List.of(device.lifetime())
                        : List.of(device.lifetime(), parent.lifetime());
        return GuardedCalls.call(
                owners, () -> new NativeCompletionQueue<>(device, config, owners, shared));
    }

    private NativeCompletionQueue(
            DeviceHandle device,
            Config config,
            List<Lifetime> owners,
            CompletedRequestQueueLookup<W> shared)
            throws VerbsException {
        this.functions = device.library().completions();
        this.context = device.context();
        this.hotPath = device.hotPath();
        this.solicitedOnly = config.solicitedOnly;
        this.reservations = new CompletionQueueReservations<>(config.capacity, shared);
        var attributes = device.attributes();
        this.maxCapacity = attributes.maxCompletions();
        this.channel = config.withEvents ? openChannel(device) : null;
        this.event = config.withEvents ? EventMemory.allocate(Arena.ofAuto()) : null;
        this.descriptor = channel == null ? -1 : CompletionFunctions.descriptor(channel);
        try {
            this.queue = config.extended ? createExtended(device, config) : create(device, config);
        } catch (Throwable e) {
            destroyChannel();
            throw e;
        }
        this.queueAddress = queue.address();
        this.poller =
                config.extended
                        ? CompletionPoller.extended(
                                hotPath,
                                queue,
                                config.fields,
                                ProviderDefects.inNextPoll(attributes))
                        : CompletionPoller.plain(hotPath, queueAddress);
        this.forget = device.events().deregistration(queueAddress);
        this.lifetime =
                new Lifetime(
                        "completion queue %x of %s".formatted(queueAddress, device.name()),
                        owners,
                        this::destroy);
        this.takeEvent = CheckedCall.to("ibv_get_cq_event", () -> "for " + lifetime);
    }

    private MemorySegment create(DeviceHandle device, Config config) throws VerbsException {
        return functions.create(
                device.address(),
                withSpare(config.capacity),
                channelOrNull(),
                config.vector,
                new CheckedCall(
                        "ibv_create_cq",
                        () -> describe(device, config),
                        LockedMemoryAdvice::advice));
    }

    private MemorySegment createExtended(DeviceHandle device, Config config) throws VerbsException {
        return functions.createExtended(
                device.context(),
                withSpare(config.capacity),
                channelOrNull(),
                config.vector,
                new CompletionFunctions.Extension(
                        config.fields,
                        config.singleThreaded,
                        config.ignoringOverrun,
                        config.parentDomain == null
                                ? MemorySegment.NULL
                                : config.parentDomain.address()),
                new CheckedCall(
                        "ibv_create_cq_ex",
                        () ->
                                describe(device, config)
                                        + " with the fields "
                                        + config.fields
                                        + (config.singleThreaded ? ", single-threaded" : "")
                                        + (config.ignoringOverrun ? ", ignoring overrun" : ""),
                        errno -> adviceOnExtended(errno, device, config)));
    }

    private String adviceOnExtended(int errno, DeviceHandle device, Config config) {
        if (errno != Errno.EOPNOTSUPP && errno != Errno.EINVAL) {
            return LockedMemoryAdvice.advice(errno);
        }
        if (!canCreate(device, Set.of(), false, false)) {
            return "The device does not support extended completion queues.";
        }
        var unsupported =
                config.fields.stream()
                        .filter(field -> !canCreate(device, Set.of(field), false, false))
                        .toList();
        if (!unsupported.isEmpty()) {
            return "The device cannot report " + unsupported + " in completions.";
        }
        if (config.ignoringOverrun && !canCreate(device, Set.of(), false, true)) {
            return "The device does not support completion queues that ignore overruns.";
        }
        return config.singleThreaded && !canCreate(device, Set.of(), true, false)
                ? "The device does not support single-threaded completion queues."
                : "";
    }

    /**
     * Returns true if the device can create a queue with the given options. The method creates and
     * destroys such a queue, because there is no query.
     */
    private boolean canCreate(
            DeviceHandle device,
            Set<CompletionField> fields,
            boolean singleThreaded,
            boolean ignoringOverrun) {
        try {
            var probe =
                    functions.createExtended(
                            device.context(),
                            1,
                            MemorySegment.NULL,
                            0,
                            new CompletionFunctions.Extension(
                                    fields, singleThreaded, ignoringOverrun, MemorySegment.NULL),
                            CheckedCall.to("ibv_create_cq_ex", () -> "on " + device.name()));
            functions.destroy(probe, CheckedCall.to("ibv_destroy_cq", () -> "on " + device.name()));
            return true;
        } catch (VerbsException _) {
            return false;
        }
    }

    private static String describe(DeviceHandle device, Config config) {
        return String.format(
                Locale.ROOT,
                "for %,d completions on vector %d of %s",
                config.capacity,
                config.vector,
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

    /**
     * Returns the file descriptor of the completion channel.
     *
     * @throws IllegalStateException if the queue was created without events
     */
    private int descriptor() {
        if (channel == null) {
            throw new IllegalStateException(
                    lifetime + " was created without events. Call waitable() on its options.");
        }
        return descriptor;
    }

    /**
     * Returns the capacity with one more entry, for the marker request of {@code drain}. Returns
     * {@code capacity} if the device does not allow more.
     */
    private int withSpare(int capacity) {
        return capacity < maxCapacity ? capacity + 1 : capacity;
    }

    /**
     * Creates a waiter for the events of this queue. Closing the queue closes the waiter. This
     * method holds the lifetime of the queue, because a concurrent close could otherwise close the
     * descriptor and the kernel could reuse its number.
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

    /** Creates a waiter for a file descriptor. */
    @FunctionalInterface
    public interface WaiterMaker {
        /** Creates the waiter. */
        DescriptorWaiter make(int descriptor) throws FabricException;
    }

    /**
     * Polls a batch of completions and returns their number. The caller must be in a guarded call
     * of this queue, or on a thread that close() waits for.
     */
    public int poll(WorkCompletions batch) {
        var count = poller.poll(batch);
        if (count < 0) {
            throw new IllegalStateException(
                    "Polling %s failed with result %d".formatted(lifetime, count));
        }
        return count;
    }

    /** Arms the queue, so that the next completion causes an event. */
    public void arm() throws VerbsException {
        try (var _ = lifetime.held()) {
            var errno = hotPath.requestNotification(queueAddress, solicitedOnly);
            if (errno != 0) {
                throw CheckedCall.to("ibv_req_notify_cq", () -> "for " + lifetime).failed(errno);
            }
        }
    }

    /**
     * Takes all pending events from the completion channel. Events are acknowledged in batches. The
     * destruction of the queue acknowledges the events that remain.
     *
     * @return true if at least one event was pending
     */
    public boolean takeEvents() throws VerbsException {
        descriptor(); // Throws if the queue was created without events.
        var taken = false;
        try (var _ = lifetime.held()) {
            while (functions.takeEvent(channel, requireNonNull(event), takeEvent)) {
                taken = true;
                if (unacknowledged.incrementAndGet() >= EVENTS_ACKNOWLEDGED_AT_ONCE) {
                    functions.acknowledge(queue, unacknowledged.getAndSet(0));
                }
            }
            return taken;
        }
    }

    public CompletionQueueReservations<W> reservations() {
        return reservations;
    }

    /** Returns true if the queue belongs to the given device. */
    public boolean isOf(DeviceHandle device) {
        return context == device.context();
    }

    /**
     * Changes the capacity.
     *
     * @throws IllegalArgumentException if the new capacity is below 1 or below the capacity that
     *     the queue pairs of this queue have reserved
     */
    public void resize(int capacity) throws VerbsException {
        reservations.resize(capacity, lifetime, () -> resizeNative(capacity));
    }

    private void resizeNative(int capacity) throws VerbsException {
        try (var _ = lifetime.held()) {
            functions.resize(
                    queue,
                    withSpare(capacity),
                    CheckedCall.to(
                            "ibv_resize_cq",
                            () ->
                                    String.format(
                                            Locale.ROOT,
                                            "for %,d completions of %s",
                                            capacity,
                                            lifetime)));
        }
    }

    /** Moderates the events of the queue, as {@code CompletionQueue.moderate} describes. */
    public void moderate(int completions, Duration atMost) throws VerbsException {
        var microseconds = TimeUnit.MICROSECONDS.convert(atMost);
        if ((completions & ~0xffff) != 0 || (microseconds & ~0xffff) != 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "Both values of an event moderation must be from 0 to 65,535, but are"
                                    + " %,d completions and %,d microseconds",
                            completions,
                            microseconds));
        }
        GuardedCalls.run(lifetime, () -> moderate(completions, (int) microseconds));
    }

    private void moderate(int completions, int microseconds) throws VerbsException {
        functions.moderate(
                context,
                queue,
                completions,
                microseconds,
                new CheckedCall(
                        "ibv_modify_cq",
                        () ->
                                String.format(
                                        Locale.ROOT,
                                        "for one event per %,d completions or %,d microseconds of"
                                                + " %s",
                                        completions,
                                        microseconds,
                                        lifetime),
                        errno ->
                                errno == Errno.EOPNOTSUPP
                                        ? "The device does not support event moderation."
                                        : ""));
    }

    private MemorySegment openChannel(DeviceHandle device) throws VerbsException {
        var opened =
                functions.createChannel(
                        device.address(),
                        CheckedCall.to("ibv_create_comp_channel", () -> "on " + device.name()));
        try {
            setNonBlocking(opened);
            return opened;
        } catch (Throwable e) {
            functions.destroyChannel(
                    opened,
                    CheckedCall.to("ibv_destroy_comp_channel", () -> "on " + device.name()));
            throw e;
        }
    }

    private static void setNonBlocking(MemorySegment channel) throws VerbsException {
        try {
            LinuxCalls.setNonBlocking(CompletionFunctions.descriptor(channel));
        } catch (FabricException e) {
            throw new VerbsException("ibv_create_comp_channel", e.getMessage());
        }
    }

    private void destroy() throws VerbsException {
        forget.run();
        if (channel != null) {
            functions.acknowledge(queue, unacknowledged.getAndSet(0));
        }
        functions.destroy(queue, CheckedCall.to("ibv_destroy_cq", () -> "for " + lifetime));
        destroyChannel();
    }

    private void destroyChannel() throws VerbsException {
        if (channel != null) {
            functions.destroyChannel(
                    channel,
                    CheckedCall.to("ibv_destroy_comp_channel", () -> "for a completion channel"));
        }
    }
}
