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
import java.util.function.Function;
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
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.internal.EventFunctions;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the events of some identifiers come from, in order.
 *
 * <p>Owns the identifiers made from it. Safe for use by several threads. In C: {@code struct
 * rdma_event_channel}; {@link #close()} is {@code rdma_destroy_event_channel}.
 */
public final class EventChannel extends NativeObject {

    private static final Logger LOG = LoggerFactory.getLogger(EventChannel.class);

    /** After so many events, the polling thread looks after others. */
    private static final int BATCH = 16;

    /** How often in a row an event may be out of reach, for five seconds in all. */
    private static final int TRIES = 8;

    private static final long PAUSE_MILLIS = 10;

    private final ConnectionLibrary library;
    private final NativeChannel channel;
    private final DescriptorWaiter waiter;

    private final boolean dispatching;

    /** Those that the library does not know of. */
    private final Queue<ConnectionEvent> own = new ConcurrentLinkedQueue<>();

    /** Those that are not closed: a program may know them from their events alone. */
    private final Map<Long, Identifier> identifiers = new ConcurrentHashMap<>();

    /** How many times in a row an event was out of reach. */
    private final AtomicInteger failures = new AtomicInteger();

    private volatile boolean broken;

    /** A channel whose events are waited for here. */
    static EventChannel waitable(ConnectionLibrary library) throws VerbsException {
        return new EventChannel(library, false);
    }

    /** A channel whose events go to the inboxes of their identifiers. */
    static EventChannel dispatching(ConnectionLibrary library) throws VerbsException {
        return new EventChannel(library, true);
    }

    private EventChannel(ConnectionLibrary library, boolean dispatching) throws VerbsException {
        this(
                library,
                dispatching,
                new NativeChannel(
                        library,
                        new Attempt(
                                "rdma_create_event_channel",
                                () -> "on this machine",
                                EventChannel::adviceOnOpening)));
    }

    @SuppressWarnings("this-escape") // to a callback that comes when all is set
    private EventChannel(ConnectionLibrary library, boolean dispatching, NativeChannel channel)
            throws VerbsException {
        super(
                channel.address(),
                new Lifetime(
                        "event channel %x".formatted(channel.address().address()),
                        List.of(),
                        channel::release));
        this.library = library;
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

    /** Makes an identifier. In C: {@code rdma_create_id}. */
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
     * Makes an identifier for what was looked up: of its type of queue pair, and bound to its local
     * address. Unreliable and extended connections have no other. What is to be connected to is
     * still to be resolved. In C: {@code rdma_create_ep}, which would wait for that.
     *
     * @throws VerbsException if the local address is of no RDMA device, or the port is taken
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

    /** What the system has made. The channel must be held. */
    private Identifier adopt(MemorySegment address, PortSpace portSpace) {
        return adopt(nativeIdentifier(address), portSpace);
    }

    private Identifier adopt(NativeIdentifier made, PortSpace portSpace) {
        var identifier = new Identifier(this, portSpace, made);
        identifiers.put(made.address().address(), identifier);
        return identifier;
    }

    private NativeIdentifier nativeIdentifier(MemorySegment address) {
        return new NativeIdentifier(library.identifiers(), channel, address, new JoinedGroups());
    }

    /**
     * Has the events of an identifier of another channel come here. The first may come before the
     * call that asks for it is back, so it is known here before that.
     */
    Identifier takeOver(NativeIdentifier former, PortSpace portSpace, Attempt attempt)
            throws VerbsException {
        var address = former.address();
        NativeIdentifier here;
        Identifier identifier;
        lifetime().hold();
        try {
            here = former.successor(library.identifiers(), channel);
            identifier = adopt(here, portSpace);
            identifier.ownLifetime().hold(); // whoever gets its event may close it
        } finally {
            lifetime().release();
        }
        var done = false;
        try {
            migrate(address, attempt);
            done = true;
        } finally {
            if (!done) {
                here.handOver(); // back
            }
            identifier.ownLifetime().release();
            if (!done) {
                identifier.close();
            }
        }
        return identifier;
    }

    /** Waits until the events that the former channel has given out are acknowledged. */
    private void migrate(MemorySegment identifier, Attempt attempt) throws VerbsException {
        PlatformCalls.call(() -> {
            library.identifiers().migrate(identifier, channel.address(), attempt);
            return this;
        });
    }

    /**
     * What to run before an identifier is destroyed: its address may be another's soon. It does not
     * keep a forgotten channel from being found to be one.
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
     * Waits for an event. Each goes to one caller. In C: {@code rdma_get_cm_event} and {@code
     * rdma_ack_cm_event}.
     *
     * @throws FabricTimeoutException if nothing happened in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if the channel is closed, before or meanwhile
     */
    public ConnectionEvent next(Duration timeout) throws FabricException, InterruptedIOException {
        return next(Deadline.after(timeout), "No event of " + this);
    }

    /**
     * @param missed what to say has not happened, if it does not in time
     */
    ConnectionEvent next(Deadline deadline, String missed)
            throws FabricException, InterruptedIOException {
        while (true) {
            if (Thread.currentThread().isInterrupted()) { // takes nothing that is then for others
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

    /** On the polling thread: neither waits, nor runs a user's code. */
    private void dispatch() {
        try {
            for (var count = 0; count < BATCH; count++) {
                var event = take();
                failures.set(0);
                if (event.isEmpty()) {
                    waiter.arm();
                    return;
                }
                event.get().identifier().inbox().put(event.get());
            }
            waiter.again();
        } catch (FabricException | RuntimeException e) {
            if (isOpen()) {
                failed(e);
            }
        }
    }

    /**
     * What fails for one event, as for want of memory, may not for the next: tries again after a
     * while, but not for ever.
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
                                    .inbox()
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

    /** Whether no event comes any more. */
    boolean isBroken() {
        return broken;
    }

    /** Whether its events go to whoever waits for what comes of a step. */
    boolean isDispatching() {
        return dispatching;
    }

    /** Adds an event that the library has told as the result of a call. */
    void tell(ConnectionEvent event) {
        if (dispatching) {
            event.identifier().inbox().put(event);
        } else {
            own.add(event);
            waiter.wake();
        }
    }

    /** Takes what there is; empty where that is nothing. Does not wait. */
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

    /** Empty if it is about an identifier that is closed. */
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
                    var translated = translate(identifier, event);
                    identifier.toldOf(translated);
                    return translated;
                });
    }

    private Optional<Identifier> known(MemorySegment address) {
        return Optional.ofNullable(identifiers.get(address.address()));
    }

    /** A request to a listener that was closed in the meantime. */
    private void refuse(MemorySegment address) {
        try {
            nativeIdentifier(address).close();
        } catch (VerbsException e) {
            LOG.warn("{}: {}", this, e.getMessage());
        }
    }

    private static ConnectionEvent translate(Identifier identifier, EventFunctions.Event event) {
        var type = event.type();
        var status = event.status();
        if (type == rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED()) {
            return new ConnectionEvent.AddressResolved(identifier);
        } else if (type == rdma_h.RDMA_CM_EVENT_ADDR_ERROR()) {
            return new ConnectionEvent.AddressError(identifier, Math.abs(status));
        } else if (type == rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED()) {
            return new ConnectionEvent.RouteResolved(identifier);
        } else if (type == rdma_h.RDMA_CM_EVENT_ROUTE_ERROR()) {
            return new ConnectionEvent.RouteError(identifier, Math.abs(status));
        } else if (type == rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE()) {
            return new ConnectionEvent.ConnectResponse(
                    identifier, event.connection(), event.privateData());
        } else if (type == rdma_h.RDMA_CM_EVENT_ESTABLISHED()) {
            return event.ofDatagrams()
                    ? new ConnectionEvent.DatagramEstablished(
                            identifier, event.datagrams(), event.privateData())
                    : new ConnectionEvent.Established(
                            identifier, event.connection(), event.privateData());
        } else if (type == rdma_h.RDMA_CM_EVENT_REJECTED()) {
            return new ConnectionEvent.Rejected(identifier, status, event.privateData());
        } else if (type == rdma_h.RDMA_CM_EVENT_UNREACHABLE()) {
            return new ConnectionEvent.Unreachable(identifier, status, event.privateData());
        } else if (type == rdma_h.RDMA_CM_EVENT_CONNECT_ERROR()) {
            return new ConnectionEvent.ConnectError(identifier, Math.abs(status));
        } else if (type == rdma_h.RDMA_CM_EVENT_DISCONNECTED()) {
            return new ConnectionEvent.Disconnected(identifier);
        } else if (type == rdma_h.RDMA_CM_EVENT_MULTICAST_JOIN()) {
            return ofGroup(
                    identifier,
                    event,
                    group ->
                            new ConnectionEvent.MulticastJoined(
                                    identifier, group, event.datagrams()));
        } else if (type == rdma_h.RDMA_CM_EVENT_MULTICAST_ERROR()) {
            return ofGroup(
                    identifier,
                    event,
                    group ->
                            new ConnectionEvent.MulticastError(
                                    identifier, group, Math.abs(status)));
        } else if (type == rdma_h.RDMA_CM_EVENT_DEVICE_REMOVAL()) {
            return new ConnectionEvent.DeviceRemoved(identifier);
        } else if (type == rdma_h.RDMA_CM_EVENT_ADDR_CHANGE()) {
            return new ConnectionEvent.AddressChanged(identifier);
        } else if (type == rdma_h.RDMA_CM_EVENT_TIMEWAIT_EXIT()) {
            return new ConnectionEvent.TimeWaitExit(identifier);
        } else if (type == rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED()) {
            return new ConnectionEvent.AddressInfoResolved(identifier);
        } else if (type == rdma_h.RDMA_CM_EVENT_ADDRINFO_ERROR()) {
            return new ConnectionEvent.AddressInfoError(identifier, Math.abs(status));
        } else if (type == rdma_h.RDMA_CM_EVENT_USER()) {
            return new ConnectionEvent.Written(identifier, status, event.context());
        }
        return other(identifier, event);
    }

    private static ConnectionEvent ofGroup(
            Identifier identifier,
            EventFunctions.Event event,
            Function<InetAddress, ConnectionEvent> translation) {
        return identifier
                .group(event.context())
                .map(translation)
                .orElseGet(() -> other(identifier, event));
    }

    private static ConnectionEvent other(Identifier identifier, EventFunctions.Event event) {
        return new ConnectionEvent.Other(identifier, event.type(), event.status());
    }

    ConnectionLibrary library() {
        return library;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
