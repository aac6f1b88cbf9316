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
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.ffi.linkage.Linux;
import org.jrdma.verbs.cm.handle.NativeEventChannel;
import org.jrdma.verbs.cm.handle.NativeIdentifier;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.internal.EventFunctions;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel that delivers the events of a set of identifiers, in order.
 *
 * <p>Owns the identifiers that were created from it. Safe for use by multiple threads. In C: {@code
 * struct rdma_event_channel}; {@link #close()} is {@code rdma_destroy_event_channel}.
 */
public final class EventChannel extends NativeObject {

    private static final Logger LOG = LoggerFactory.getLogger(EventChannel.class);

    /** The number of events after which the polling thread serves other channels. */
    private static final int BATCH = 16;

    /** The number of consecutive failures to take an event that are retried, for 5 s in all. */
    private static final int TRIES = 8;

    private static final long PAUSE_MILLIS = 10;

    private final ConnectionLibrary library;
    private final LocalDevices devices;
    private final NativeEventChannel channel;
    private final DescriptorWaiter waiter;

    private final boolean dispatching;

    /** Events that this SDK adds to those of the library. */
    private final Queue<ConnectionEvent> own = new ConcurrentLinkedQueue<>();

    /** The open identifiers by address. A program may know one from its events alone. */
    private final Map<Long, Identifier> identifiers = new ConcurrentHashMap<>();

    /** The number of consecutive failures to take an event. */
    private final AtomicInteger failures = new AtomicInteger();

    private volatile boolean broken;

    /** Creates a channel whose events are returned by {@link #next}. */
    static EventChannel waitable(ConnectionLibrary library, LocalDevices devices)
            throws VerbsException {
        return new EventChannel(library, devices, false);
    }

    /** Creates a channel whose events go to the queues of their identifiers. */
    static EventChannel dispatching(ConnectionLibrary library, LocalDevices devices)
            throws VerbsException {
        return new EventChannel(library, devices, true);
    }

    private EventChannel(ConnectionLibrary library, LocalDevices devices, boolean dispatching)
            throws VerbsException {
        this(
                library,
                devices,
                dispatching,
                new NativeEventChannel(
                        library,
                        new Attempt(
                                "rdma_create_event_channel",
                                () -> "on this machine",
                                EventChannel::adviceOnOpening)));
    }

    @SuppressWarnings("this-escape") // to a callback that comes when all is set
    private EventChannel(
            ConnectionLibrary library,
            LocalDevices devices,
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
            Linux.setNonBlocking(channel.descriptor());
            if (dispatching) {
                waiter = DescriptorWaiter.watch(channel.descriptor(), this::dispatch);
                waiter.arm();
            } else {
                waiter = DescriptorWaiter.on(channel.descriptor());
            }
        } catch (FabricException e) {
            close();
            throw new VerbsException(
                    "rdma_create_event_channel",
                    "The events of a channel cannot be waited for: " + e.getMessage());
        }
        lifetime().onClose(waiter::close);
    }

    private static String adviceOnOpening(int errno) {
        return switch (errno) {
            case Errno.ENODEV ->
                    "This machine has no RDMA device. Load the driver of one, or make a software one of a network interface with \"rdma link add rxe0 type rxe netdev eth0\".";
            case Errno.ENOENT, Errno.ENXIO, Errno.EPERM ->
                    "The file /dev/infiniband/rdma_cm is missing; load rdma_ucm, or pass it to the container.";
            case Errno.EACCES ->
                    "The file /dev/infiniband/rdma_cm is not for this user; change its mode.";
            default -> "";
        };
    }

    /** Creates an identifier. In C: {@code rdma_create_id}. */
    public Identifier newIdentifier(PortSpace portSpace) throws VerbsException {
        lifetime().hold();
        try {
            var attempt =
                    Attempt.to("rdma_create_id", () -> "for port space %s".formatted(portSpace));
            var address =
                    PlatformCalls.call(() ->
                            library.identifiers().create(channel.address(), portSpace, attempt));
            return adopt(address, portSpace);
        } finally {
            lifetime().release();
        }
    }

    /**
     * Creates an identifier for an address that was looked up, with that address's type of queue
     * pair, and bound to its local address. This is the only way to create an identifier for
     * unreliable and extended connections. The peer's address must still be resolved. In C: {@code
     * rdma_create_ep}, which would block for that.
     *
     * @throws VerbsException if no RDMA device has the local address, or the port is in use
     */
    public Identifier newIdentifier(AddressInfo info) throws VerbsException {
        var local = info.local().or(() -> info.peer().map(EventChannel::anywhere)).orElseThrow();
        lifetime().hold();
        try {
            var address =
                    PlatformCalls.call(() ->
                            library.addresses()
                                    .createEndpoint(
                                            info,
                                            local,
                                            Attempt.to(
                                                    "rdma_create_ep",
                                                    () -> "for %s".formatted(info))));
            var made = nativeIdentifier(address);
            var done = false;
            try {
                migrate(address, Attempt.to("rdma_migrate_id", () -> "for %s".formatted(info)));
                done = true;
            } finally {
                if (!done) {
                    made.close();
                }
            }
            return adopt(made, info.portSpace());
        } finally {
            lifetime().release();
        }
    }

    private static InetSocketAddress anywhere(InetSocketAddress peer) {
        return new InetSocketAddress(
                InetAddress.ofLiteral(peer.getAddress() instanceof Inet6Address ? "::" : "0.0.0.0"),
                0);
    }

    /** Takes ownership of a new native identifier. The channel must be held. */
    private Identifier adopt(MemorySegment address, PortSpace portSpace) {
        return adopt(nativeIdentifier(address), portSpace);
    }

    private Identifier adopt(NativeIdentifier made, PortSpace portSpace) {
        var identifier = new Identifier(this, portSpace, made);
        identifiers.put(made.address().address(), identifier);
        return identifier;
    }

    private NativeIdentifier nativeIdentifier(MemorySegment address) {
        return new NativeIdentifier(library, channel, address);
    }

    /**
     * Takes over the identifier of another channel. The identifier is added to this channel before
     * the native call, because its first event may arrive before the call returns.
     */
    Identifier takeOver(NativeIdentifier former, PortSpace portSpace, Attempt attempt)
            throws VerbsException {
        var address = former.address();
        NativeIdentifier here;
        Identifier identifier;
        lifetime().hold();
        try {
            here = former.successor(library, channel);
            identifier = adopt(here, portSpace);
            identifier.ownLifetime().hold(); // a thread that takes its event may close it
        } finally {
            lifetime().release();
        }
        var done = false;
        try {
            migrate(address, attempt);
            done = true;
        } finally {
            if (!done) {
                here.handOver(); // the former owner keeps it
            }
            identifier.ownLifetime().release();
            if (!done) {
                identifier.close();
            }
        }
        return identifier;
    }

    /** Blocks until the events that the former channel has delivered are acknowledged. */
    private void migrate(MemorySegment identifier, Attempt attempt) throws VerbsException {
        PlatformCalls.call(() -> {
            library.identifiers().migrate(identifier, channel.address(), attempt);
            return this;
        });
    }

    /**
     * Returns a task that removes an identifier before it is destroyed and its address is reused.
     * The task does not keep this channel reachable, so that a leaked channel is still reported.
     */
    Runnable forgetting(MemorySegment address) {
        var reference = new WeakReference<>(identifiers);
        return () -> {
            var known = reference.get();
            if (known != null) {
                known.remove(address.address());
            }
        };
    }

    /**
     * Waits for an event. Each event is returned to one caller. In C: {@code rdma_get_cm_event} and
     * {@code rdma_ack_cm_event}.
     *
     * @throws FabricTimeoutException if there is no event in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if the channel is or becomes closed
     */
    public ConnectionEvent next(Duration timeout) throws FabricException, InterruptedIOException {
        return next(Deadline.after(timeout), "No event of " + this);
    }

    /**
     * @param missed the description of the event in a timeout
     */
    ConnectionEvent next(Deadline deadline, String missed)
            throws FabricException, InterruptedIOException {
        while (true) {
            if (Thread.currentThread().isInterrupted()) { // leaves the event to other threads
                throw new InterruptedIOException("interrupted while waiting for " + this);
            }
            var ticket = waiter.ticket();
            var event = take();
            if (event.isPresent()) {
                return event.get();
            }
            try {
                if (!waiter.await(ticket, deadline)) {
                    throw deadline.missed(missed);
                }
            } catch (IllegalStateException e) {
                throw lifetime().closedException();
            }
        }
    }

    /** Runs on the polling thread: does not block, and runs no code of the program. */
    private void dispatch() {
        try {
            for (var count = 0; count < BATCH; count++) {
                var event = take();
                failures.set(0);
                if (event.isEmpty()) {
                    waiter.arm();
                    return;
                }
                event.get().identifier().events().add(event.get());
            }
            waiter.again();
        } catch (FabricException | RuntimeException e) {
            if (isOpen()) {
                failed(e);
            }
        }
    }

    /**
     * Retries after a pause, because a failure to take one event, such as a lack of memory, may not
     * affect the next. Gives up after a number of consecutive failures.
     */
    private void failed(Exception e) {
        var inARow = failures.incrementAndGet();
        if (inARow > TRIES) {
            LOG.error("No more events of {}", this, e);
            broken = true;
            identifiers
                    .values()
                    .forEach(identifier ->
                            identifier
                                    .events()
                                    .fail(
                                            new VerbsException(
                                                    "rdma_get_cm_event",
                                                    "The events of connections cannot be had: "
                                                            + e.getMessage())));
            return;
        }
        LOG.warn("An event of {} cannot be had; trying again", this, e);
        CompletableFuture.delayedExecutor(PAUSE_MILLIS << inARow, TimeUnit.MILLISECONDS)
                .execute(this::armAgain);
    }

    private void armAgain() {
        try {
            waiter.arm();
        } catch (FabricException e) {
            failed(e);
        }
    }

    /** Whether this channel has given up taking events. */
    boolean isBroken() {
        return broken;
    }

    /** Whether the events go to the queues of their identifiers. */
    boolean isDispatching() {
        return dispatching;
    }

    /** Adds an event that the library has reported as the result of a call. */
    void add(ConnectionEvent event) {
        if (dispatching) {
            event.identifier().events().add(event);
        } else {
            own.add(event);
            waiter.wake();
        }
    }

    /** Takes an event without waiting; empty if there is none. */
    private Optional<ConnectionEvent> take() throws VerbsException {
        lifetime().hold();
        try {
            for (var event = own.poll(); event != null; event = own.poll()) {
                if (event.identifier().isOpen()) {
                    return Optional.of(event);
                }
            }
            return library.events()
                    .take(
                            channel.address(),
                            this::translate,
                            Attempt.to("rdma_get_cm_event", () -> "for " + this));
        } finally {
            lifetime().release();
        }
    }

    /** Returns empty for an event of a closed identifier. */
    private Optional<ConnectionEvent> translate(EventFunctions.Event event) {
        if (event.type() == rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST()) {
            var listener = known(event.listener());
            if (listener.isEmpty()) {
                refuse(event.identifier());
                return Optional.empty();
            }
            var identifier = adopt(event.identifier(), listener.get().portSpace());
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
        return known(event.identifier())
                .map(identifier -> {
                    var translated = EventTranslation.of(identifier, event);
                    EventTranslation.answeredCall(translated)
                            .ifPresent(identifier.nativeIdentifier()::answered);
                    return translated;
                });
    }

    private Optional<Identifier> known(MemorySegment address) {
        return Optional.ofNullable(identifiers.get(address.address()));
    }

    /** Rejects a request to a listener that was closed meanwhile. */
    private void refuse(MemorySegment address) {
        try {
            nativeIdentifier(address).close();
        } catch (VerbsException e) {
            LOG.warn("{}: {}", this, e.getMessage());
        }
    }

    LocalDevices devices() {
        return devices;
    }

    ConnectionLibrary library() {
        return library;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
