package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.verbs.cm.handle.NativeEventChannel;
import org.jrdma.verbs.cm.handle.NativeIdentifier;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.ConnectionEventType;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.internal.EventChannelFunctions;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel that delivers the events of a set of identifiers in order.
 *
 * <p>Owns the identifiers that were created from it. Safe for use by multiple threads. In C: {@code
 * struct rdma_event_channel}; {@link #close()} is {@code rdma_destroy_event_channel}.
 */
public final class EventChannel extends NativeObject {

    private static final Logger LOG = LoggerFactory.getLogger(EventChannel.class);

    /**
     * The maximum number of events of this channel that are dispatched before the polling thread
     * serves other file descriptors.
     */
    private static final int MAX_BATCH = 16;

    /**
     * The maximum number of consecutive retries to take an event. The delays of all retries add up
     * to about 5 s.
     */
    private static final int MAX_RETRIES = 8;

    private static final long RETRY_DELAY_MILLIS = 10;

    private final ConnectionLibrary library;
    private final LocalDeviceAddresses devices;
    private final NativeEventChannel channel;
    private final DescriptorWaiter waiter;

    private final boolean dispatching;

    /** The events that the SDK itself has created. Events of librdmacm are not in this queue. */
    private final Queue<ConnectionEvent> addedEvents = new ConcurrentLinkedQueue<>();

    /**
     * The open identifiers by native address. The map keeps the identifiers reachable, because the
     * program may have no other reference to an identifier than those in its events.
     */
    private final Map<Long, Identifier> identifiers = new ConcurrentHashMap<>();

    private final AtomicInteger consecutiveFailures = new AtomicInteger();

    private volatile boolean broken;

    /** Creates a channel for programs that receive the events by {@link #next}. */
    static EventChannel waitable(ConnectionLibrary library, LocalDeviceAddresses devices)
            throws VerbsException {
        return new EventChannel(library, devices, false);
    }

    /**
     * Creates a channel that passes each event to the {@link IdentifierEventQueue} of its
     * identifier.
     */
    static EventChannel dispatching(ConnectionLibrary library, LocalDeviceAddresses devices)
            throws VerbsException {
        return new EventChannel(library, devices, true);
    }

    private EventChannel(
            ConnectionLibrary library, LocalDeviceAddresses devices, boolean dispatching)
            throws VerbsException {
        this(
                library,
                devices,
                dispatching,
                new NativeEventChannel(
                        library,
                        new CheckedCall(
                                "rdma_create_event_channel",
                                () -> "on this machine",
                                EventChannel::adviceOnOpening)));
    }

    private EventChannel(
            ConnectionLibrary library,
            LocalDeviceAddresses devices,
            boolean dispatching,
            NativeEventChannel channel)
            throws VerbsException {
        super(
                channel.address(),
                new Lifetime(
                        "event channel %x".formatted(channel.address().address()),
                        List.of(),
                        channel::release));
        this.library = library;
        this.devices = devices;
        this.channel = channel;
        this.dispatching = dispatching;
        try {
            LinuxCalls.setNonBlocking(channel.descriptor());
            waiter =
                    dispatching
                            ? DescriptorWaiter.watch(channel.descriptor(), this::dispatch)
                            : DescriptorWaiter.on(channel.descriptor());
            lifetime().onClose(waiter::close);
            if (dispatching) {
                waiter.arm();
            }
        } catch (FabricException e) {
            close();
            throw new VerbsException(
                    "rdma_create_event_channel",
                    "Cannot wait for the events of a channel: " + e.getMessage());
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private static String adviceOnOpening(int errno) {
        return switch (errno) {
            case Errno.ENODEV ->
                    "This machine has no RDMA device. Load the driver of the adapter, or create a"
                            + " software device with \"rdma link add rxe0 type rxe netdev eth0\".";
            case Errno.ENOENT, Errno.ENXIO, Errno.EPERM ->
                    "The device file /dev/infiniband/rdma_cm is missing. Load the kernel module"
                            + " rdma_ucm, or pass the device file to the container.";
            case Errno.EACCES ->
                    "This user has no access to /dev/infiniband/rdma_cm. Change the mode of the"
                            + " device file.";
            default -> "";
        };
    }

    /** Creates an identifier. In C: {@code rdma_create_id}. */
    public Identifier newIdentifier(PortSpace portSpace) throws VerbsException {
        try (var _ = lifetime().held()) {
            var attempt =
                    CheckedCall.to(
                            "rdma_create_id", () -> "for port space %s".formatted(portSpace));
            var address =
                    BlockingCalls.call(() ->
                            library.identifiers().create(channel.address(), portSpace, attempt));
            return register(nativeIdentifier(address), portSpace);
        }
    }

    /**
     * Creates an identifier for the result of an address lookup; see {@link
     * ConnectionManager#lookUp}. The identifier has the queue pair type of the query, and is bound
     * to the local address. Identifiers for unreliable connections and extended reliable
     * connections can be created only by this method. The method does not resolve the peer's
     * address, because that would block; the program must do so afterwards. In C: {@code
     * rdma_create_ep}.
     *
     * @throws IllegalArgumentException if {@code info} has no address
     * @throws VerbsException if no RDMA device has the local address, or the port is in use
     */
    public Identifier newIdentifier(AddressInfo info) throws VerbsException {
        var local =
                info.local()
                        .or(() -> info.peer().map(EventChannel::wildcard))
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        "Cannot create an identifier for %s: it has neither a local address nor an address of a peer."
                                                .formatted(info)));
        try (var _ = lifetime().held()) {
            var address =
                    BlockingCalls.call(() ->
                            library.addresses()
                                    .createEndpoint(
                                            info,
                                            local,
                                            CheckedCall.to(
                                                    "rdma_create_ep",
                                                    () -> "for %s".formatted(info))));
            var identifier = nativeIdentifier(address);
            try {
                migrate(address, CheckedCall.to("rdma_migrate_id", () -> "for %s".formatted(info)));
            } catch (Throwable e) {
                identifier.close();
                throw e;
            }
            return register(identifier, info.portSpace());
        }
    }

    /** Returns the wildcard address for the address family of the peer address. */
    private static InetSocketAddress wildcard(InetSocketAddress peer) {
        return new InetSocketAddress(
                InetAddress.ofLiteral(peer.getAddress() instanceof Inet6Address ? "::" : "0.0.0.0"),
                0);
    }

    /**
     * Takes ownership of a native identifier. The caller must {@linkplain Lifetime#hold hold} the
     * lifetime of this channel.
     */
    private Identifier register(NativeIdentifier nativeIdentifier, PortSpace portSpace) {
        var identifier = new Identifier(this, portSpace, nativeIdentifier);
        identifiers.put(nativeIdentifier.address().address(), identifier);
        return identifier;
    }

    private NativeIdentifier nativeIdentifier(MemorySegment address) {
        return new NativeIdentifier(library, channel, address);
    }

    /**
     * Moves an identifier of another channel to this channel. Registers the identifier with this
     * channel before {@code rdma_migrate_id} is called, because the first event of the identifier
     * may arrive before that call returns.
     */
    Identifier takeOver(NativeIdentifier source, PortSpace portSpace, CheckedCall attempt)
            throws VerbsException {
        var address = source.address();
        NativeIdentifier successor;
        Identifier identifier;
        try (var _ = lifetime().held()) {
            successor = source.successor(library, channel);
            identifier = register(successor, portSpace);
            // A thread that receives an event of the identifier may close the identifier.
            identifier.ownLifetime().hold();
        }
        var done = false;
        try {
            migrate(address, attempt);
            done = true;
        } finally {
            if (!done) {
                successor.handOver(); // The source keeps the ownership of the native identifier.
            }
            identifier.ownLifetime().release();
            if (!done) {
                identifier.close();
            }
        }
        return identifier;
    }

    /**
     * Moves a native identifier to this channel. Blocks until the events of the identifier that its
     * previous channel has delivered are acknowledged.
     */
    private void migrate(MemorySegment identifier, CheckedCall attempt) throws VerbsException {
        BlockingCalls.call(() -> {
            library.identifiers().migrate(identifier, channel.address(), attempt);
            return this;
        });
    }

    /**
     * Returns a task that unregisters an identifier from this channel. The task must run before the
     * identifier is destroyed, because the address of a destroyed identifier may be reused. The
     * task does not keep this channel reachable, so that a channel that was not closed is reported
     * as a leak.
     */
    Runnable removalTask(MemorySegment address) {
        var reference = new WeakReference<>(identifiers);
        return () -> {
            var registered = reference.get();
            if (registered != null) {
                registered.remove(address.address());
            }
        };
    }

    /**
     * Waits for an event of any identifier of this channel. Each event is returned to only one
     * caller. In C: {@code rdma_get_cm_event} and {@code rdma_ack_cm_event}.
     *
     * @throws FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if the channel is closed before or during the wait
     */
    public ConnectionEvent next(Duration timeout) throws FabricException, InterruptedIOException {
        return next(Deadline.after(timeout), "No event arrived at " + this);
    }

    /**
     * @param timedOut the start of the exception message for a timeout; the message ends with
     *     "within" and the timeout
     */
    ConnectionEvent next(Deadline deadline, String timedOut)
            throws FabricException, InterruptedIOException {
        while (true) {
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("Interrupted while waiting for " + this);
            }
            var ticket = waiter.ticket();
            var event = take();
            if (event.isPresent()) {
                return event.get();
            }
            try {
                if (!waiter.await(ticket, deadline)) {
                    throw deadline.missed(timedOut);
                }
            } catch (IllegalStateException e) {
                throw lifetime().closedException();
            }
        }
    }

    /**
     * Adds available events to the queues of their identifiers. Runs on the polling thread, so it
     * must not block or call code of the program.
     */
    private void dispatch() {
        try {
            for (var count = 0; count < MAX_BATCH; count++) {
                var event = take();
                consecutiveFailures.set(0);
                if (event.isEmpty()) {
                    waiter.arm();
                    return;
                }
                event.get().identifier().events().add(event.get());
            }
            waiter.callAgain();
        } catch (FabricException | RuntimeException e) {
            if (isOpen()) {
                retryLater(e);
            }
        }
    }

    /**
     * Schedules a retry after a delay, because the failure to take an event can be temporary, for
     * example due to a lack of memory. After {@link #MAX_RETRIES} consecutive retries, fails all
     * waiting calls on the identifiers of this channel.
     */
    private void retryLater(Exception e) {
        var failureCount = consecutiveFailures.incrementAndGet();
        if (failureCount > MAX_RETRIES) {
            LOG.error(
                    "Taking events of {} has failed repeatedly; no more events are delivered",
                    this,
                    e);
            broken = true;
            identifiers
                    .values()
                    .forEach(identifier ->
                            identifier
                                    .events()
                                    .fail(
                                            new VerbsException(
                                                    "rdma_get_cm_event",
                                                    "Cannot receive the events of connections: "
                                                            + e.getMessage())));
            return;
        }
        LOG.warn("Cannot take an event of {}; retrying", this, e);
        CompletableFuture.delayedExecutor(RETRY_DELAY_MILLIS << failureCount, TimeUnit.MILLISECONDS)
                .execute(this::armAgain);
    }

    private void armAgain() {
        try {
            waiter.arm();
        } catch (FabricException e) {
            retryLater(e);
        }
    }

    /** Returns true if this channel has stopped delivering events because of repeated failures. */
    boolean isBroken() {
        return broken;
    }

    /** Returns true if events are dispatched to the queues of their identifiers. */
    boolean isDispatching() {
        return dispatching;
    }

    /**
     * Adds an event for a failure that librdmacm has reported as the result of a call instead of an
     * event.
     */
    void add(ConnectionEvent event) {
        if (dispatching) {
            event.identifier().events().add(event);
        } else {
            addedEvents.add(event);
            waiter.wake();
        }
    }

    /** Takes one event without waiting. Returns empty if no event is available. */
    private Optional<ConnectionEvent> take() throws VerbsException {
        try (var _ = lifetime().held()) {
            for (var event = addedEvents.poll(); event != null; event = addedEvents.poll()) {
                if (event.identifier().isOpen()) {
                    return Optional.of(event);
                }
            }
            return library.events()
                    .take(
                            channel.address(),
                            this::translate,
                            CheckedCall.to("rdma_get_cm_event", () -> "for " + this));
        }
    }

    /** Translates a native event. Returns empty for an event of a closed identifier. */
    private Optional<ConnectionEvent> translate(EventChannelFunctions.Event event) {
        if (event.type() == ConnectionEventType.CONNECT_REQUEST) {
            var listener = registered(event.listener());
            if (listener.isEmpty()) {
                reject(event.identifier());
                return Optional.empty();
            }
            var identifier =
                    register(nativeIdentifier(event.identifier()), listener.get().portSpace());
            return Optional.of(
                    event.ofDatagrams()
                            ? new ConnectionEvent.DatagramRequest(
                                    identifier, listener.get(), event.privateData())
                            : new ConnectionEvent.ConnectRequest(
                                    identifier,
                                    listener.get(),
                                    event.connection(),
                                    event.privateData()));
        }
        return registered(event.identifier())
                .map(identifier -> {
                    var translated = EventTranslation.of(identifier, event);
                    EventTranslation.answeredCall(translated)
                            .ifPresent(identifier.nativeIdentifier()::answered);
                    return translated;
                });
    }

    private Optional<Identifier> registered(MemorySegment address) {
        return Optional.ofNullable(identifiers.get(address.address()));
    }

    /** Closes the identifier of a request to a closed listener, which rejects the request. */
    private void reject(MemorySegment address) {
        try {
            nativeIdentifier(address).close();
        } catch (VerbsException e) {
            LOG.warn("{}: {}", this, e.getMessage());
        }
    }

    LocalDeviceAddresses devices() {
        return devices;
    }

    ConnectionLibrary library() {
        return library;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
