package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.ffi.linkage.Linux;
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
 * An {@code ibv_cq} and the {@code ibv_comp_channel} that serves it alone, if events are wanted.
 * Apart from the {@link CompletionSource}, so that what waits for events does not keep a forgotten
 * source from being found.
 */
final class NativeCompletionQueue {

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

    /** For a caller that holds the device. */
    NativeCompletionQueue(Device device, CompletionQueueOptions options) throws VerbsException {
        this.functions = device.library().completions();
        this.context = device.context();
        this.hotPath = device.hotPath();
        this.solicitedOnly = options.solicitedOnly();
        var attributes = device.attributes();
        this.maxCapacity = attributes.maxCompletions();
        this.channel = options.withEvents() ? openChannel(device) : null;
        this.descriptor = channel == null ? -1 : CompletionFunctions.descriptor(channel);
        try {
            this.queue =
                    options.isExtended()
                            ? createExtended(device, options)
                            : create(device, options);
        } catch (VerbsException | RuntimeException | Error e) { // the device's close may have begun
            destroyChannel();
            throw e;
        }
        this.queueAddress = queue.address();
        this.poller =
                options.isExtended()
                        ? Poller.extended(
                                hotPath,
                                queue,
                                options.fields(),
                                ProviderFaults.inNextPoll(attributes))
                        : Poller.plain(hotPath, queueAddress);
        this.forget = device.forgetting(queueAddress);
        this.lifetime =
                new Lifetime(
                        "completion queue %x of %s".formatted(queueAddress, device.name()),
                        Stream.concat(
                                        Stream.of(device.ownLifetime()),
                                        options.parentDomain().stream()
                                                .map(ProtectionDomain::ownLifetime))
                                .toList(),
                        this::destroy);
    }

    private MemorySegment create(Device device, CompletionQueueOptions options)
            throws VerbsException {
        return functions.create(
                device.address(),
                withSpare(options.capacity()),
                channelOrNull(),
                options.vector(),
                new Attempt(
                        "ibv_create_cq", () -> describe(device, options), LockedMemory::advice));
    }

    private MemorySegment createExtended(Device device, CompletionQueueOptions options)
            throws VerbsException {
        return functions.createExtended(
                device.context(),
                withSpare(options.capacity()),
                channelOrNull(),
                options.vector(),
                new CompletionFunctions.Extension(
                        options.fields(),
                        options.singleThreaded(),
                        options.ignoringOverrun(),
                        options.parentDomain().isEmpty()
                                ? MemorySegment.NULL
                                : options.parentDomain().get().address()),
                new Attempt(
                        "ibv_create_cq_ex",
                        () ->
                                describe(device, options)
                                        + " telling "
                                        + options.fields()
                                        + (options.singleThreaded() ? ", single-threaded" : "")
                                        + (options.ignoringOverrun() ? ", ignoring overrun" : ""),
                        errno -> adviceOnExtended(errno, device, options)));
    }

    private String adviceOnExtended(int errno, Device device, CompletionQueueOptions options) {
        if (errno != Errno.EOPNOTSUPP && errno != Errno.EINVAL) {
            return LockedMemory.advice(errno);
        }
        if (!canMake(device, Set.of(), false, false)) {
            return "It has no extended completion queues.";
        }
        var untold =
                options.fields().stream()
                        .filter(field -> !canMake(device, Set.of(field), false, false))
                        .toList();
        if (!untold.isEmpty()) {
            return "Its completions do not tell " + untold + ".";
        }
        if (options.ignoringOverrun() && !canMake(device, Set.of(), false, true)) {
            return "Its completion queues cannot overrun.";
        }
        return options.singleThreaded() && !canMake(device, Set.of(), true, false)
                ? "It knows no single-threaded completion queues."
                : "";
    }

    /** What a device refuses, it can only be asked by trying. */
    private boolean canMake(
            Device device,
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

    private static String describe(Device device, CompletionQueueOptions options) {
        return String.format(
                Locale.ROOT,
                "for %,d completions on vector %d of %s",
                options.capacity(),
                options.vector(),
                device.name());
    }

    private MemorySegment channelOrNull() {
        return channel == null ? MemorySegment.NULL : channel;
    }

    MemorySegment address() {
        return queue;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    /** The descriptor that its events come from. */
    int descriptor() {
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
    DescriptorWaiter newWaiter(WaiterMaker maker) throws VerbsException {
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
    interface WaiterMaker {
        DescriptorWaiter make(int descriptor) throws FabricException;
    }

    /**
     * Fills a batch. For a caller that is inside its guard, or whom close() waits for. Returns how
     * many.
     */
    int poll(WorkCompletions batch) {
        var count = poller.poll(batch);
        if (count < 0) {
            throw new IllegalStateException(
                    "The poll of %s answered %d".formatted(lifetime, count));
        }
        return count;
    }

    /** Asks for an event at the next completion. */
    void arm() throws VerbsException {
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
    boolean takeEvents() throws VerbsException {
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

    /** Refuses nothing that the SDK can know of. */
    void resize(int capacity) throws VerbsException {
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

    void moderate(int completions, int microseconds) throws VerbsException {
        lifetime.hold();
        try {
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
        } finally {
            lifetime.release();
        }
    }

    private MemorySegment openChannel(Device device) throws VerbsException {
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
