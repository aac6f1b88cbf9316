package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.AddressQuery;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.DatagramService;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.internal.SoftwareFabric;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * librdmacm, of this machine or from a provider: the entry point for connections.
 *
 * <p>One thread takes the events of all connections, so that any number of platform or virtual
 * threads can wait for theirs without blocking in native code. A connection manager is open as long
 * as the JVM runs. Safe for use by multiple threads.
 */
public final class ConnectionManager {

    private static final int BACKLOG = 128;

    private static @Nullable ConnectionManager system;
    private static @Nullable ConnectionManager software;

    private final ConnectionLibrary library;
    private final LocalDevices devices;
    private final Set<EventChannel> listening = ConcurrentHashMap.newKeySet();
    private @Nullable EventChannel channel;

    private ConnectionManager(ConnectionLibrary library, LocalDevices.Source verbs) {
        this.library = library;
        this.devices = new LocalDevices(verbs);
    }

    /**
     * Returns the machine's own librdmacm, the same object each time.
     *
     * @throws LibraryNotFoundException if it is not installed; the message names the packages
     */
    public static synchronized ConnectionManager system() throws LibraryNotFoundException {
        if (system == null) {
            system =
                    new ConnectionManager(
                            new ConnectionLibrary(NativeLibrary.open(ConnectionLibrary.NAME)),
                            Verbs::system);
        }
        return system;
    }

    /**
     * Returns the connection manager of {@link Verbs#software()}, the same object each time. It
     * connects software devices with one another and with real ones.
     *
     * @throws LibraryNotFoundException if there is none on the class path or the module path; the
     *     message says what to add
     * @throws IllegalArgumentException if one of its system properties is invalid
     */
    public static synchronized ConnectionManager software() throws LibraryNotFoundException {
        if (software == null) {
            software =
                    new ConnectionManager(
                            new ConnectionLibrary(SoftwareFabric.library()), Verbs::software);
        }
        return software;
    }

    /**
     * Returns the connection manager that the system property {@code jrdma.fabric} names, as {@link
     * Verbs#configured()} does.
     *
     * @throws LibraryNotFoundException if the library is not installed
     * @throws IllegalArgumentException if the property has another value
     */
    public static ConnectionManager configured() throws LibraryNotFoundException {
        var fabric = System.getProperty("jrdma.fabric", "system");
        return switch (fabric) {
            case "system" -> system();
            case "software" -> software();
            default ->
                    throw new IllegalArgumentException(
                            "jrdma.fabric is \"%s\"; it can be system or software"
                                    .formatted(fabric));
        };
    }

    /**
     * Returns a librdmacm from a provider. If the provider has a libibverbs too, {@link Verbs#from}
     * has the devices that this object connects.
     *
     * @throws LibraryNotFoundException if it lacks a function that every version has
     */
    public static ConnectionManager from(LibraryProvider provider) throws LibraryNotFoundException {
        return new ConnectionManager(
                new ConnectionLibrary(NativeLibrary.from(provider)), () -> Verbs.from(provider));
    }

    /**
     * Creates an event channel, for programs that take each step of a connection themselves. In C:
     * {@code rdma_create_event_channel}.
     *
     * @throws VerbsException if this machine has no RDMA device, or this user may not access it
     */
    public EventChannel newEventChannel() throws VerbsException {
        return EventChannel.waitable(library, devices);
    }

    /**
     * Finds the route to a peer, for programs that open a device when they know that it leads
     * there.
     *
     * @throws CmException if no RDMA device leads to the address, or no machine has the address
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public Route resolve(InetSocketAddress address, Duration timeout)
            throws FabricException, InterruptedIOException {
        return RouteResolution.resolve(
                channel().newIdentifier(PortSpace.TCP), null, address, Deadline.after(timeout));
    }

    /**
     * Finds the route to a peer as {@link #resolve(InetSocketAddress, Duration)} does, without
     * waiting. Cancelling the future ends the attempt and leaves nothing open.
     */
    public CompletableFuture<Route> resolveAsync(InetSocketAddress address, Duration timeout) {
        return Cancellable.start(
                "jrdma-resolve-async", () -> resolve(address, timeout), Route::close);
    }

    /**
     * Finds the route to a service that was looked up.
     *
     * @throws IllegalArgumentException if the address is one to listen at
     */
    public Route resolve(AddressInfo info, Duration timeout)
            throws FabricException, InterruptedIOException {
        var peer =
                info.peer()
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        info + " is to be listened for, not connected to"));
        return RouteResolution.resolve(
                channel().newIdentifier(info), null, peer, Deadline.after(timeout));
    }

    /**
     * Connects to a peer, and waits until the peer has accepted.
     *
     * <p>The local device is that of the protection domain: if the options have no local address,
     * and the system would choose another device, the connection is made from an address of the
     * domain's device. Such an address is known on RoCE and on the software fabric.
     *
     * @param domain the protection domain of the queue pair
     * @param timeout the timeout of all steps together
     * @throws CmException if there is no route to the peer, or the peer rejects the connection
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public <Q extends QueuePair> Connection<Q> connect(
            InetSocketAddress address,
            ProtectionDomain domain,
            ConnectionOptions<Q> options,
            Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        var local = options.localAddress();
        var route = resolve(options, local.orElse(null), address, deadline);
        if (local.isEmpty()
                && !route.deviceName().equals(domain.device().name())
                && !route.isWarp()) {
            var other = addressTowards(address, domain.device());
            if (other.isPresent()) {
                route.close();
                route = resolve(options, other.get(), address, deadline);
            }
        }
        return route.connect(domain, options, deadline);
    }

    private Route resolve(
            ConnectionOptions<?> options,
            @Nullable InetSocketAddress local,
            InetSocketAddress address,
            Deadline deadline)
            throws FabricException, InterruptedIOException {
        var identifier = channel().newIdentifier(PortSpace.TCP);
        if (options.typeOfService().isPresent()) {
            var done = false;
            try {
                identifier.typeOfService(options.typeOfService().getAsInt());
                done = true;
            } finally {
                if (!done) {
                    identifier.close();
                }
            }
        }
        return RouteResolution.resolve(identifier, local, address, deadline);
    }

    /** An address of a device from which a peer may be reached. */
    private static Optional<InetSocketAddress> addressTowards(InetSocketAddress peer, Device device)
            throws VerbsException {
        return LocalDevices.addresses(device).stream()
                .filter(local -> LocalDevices.isOfOneFamily(local, peer.getAddress()))
                .findFirst()
                .map(local -> new InetSocketAddress(local, 0));
    }

    /**
     * Connects to a peer as {@link #connect} does, without waiting. Cancelling the future ends the
     * attempt and leaves nothing open.
     */
    public <Q extends QueuePair> CompletableFuture<Connection<Q>> connectAsync(
            InetSocketAddress address,
            ProtectionDomain domain,
            ConnectionOptions<Q> options,
            Duration timeout) {
        return Cancellable.start(
                "jrdma-connect-async",
                () -> connect(address, domain, options, timeout),
                Connection::close);
    }

    /** Listens at an address, with a backlog of 128 requests. */
    public Listener listen(InetSocketAddress address) throws VerbsException {
        return listen(address, BACKLOG);
    }

    /**
     * Listens at an address. Port 0 stands for a free port, and the wildcard address for all RDMA
     * devices of this machine; see {@link Listener#localAddresses()}.
     *
     * @param backlog the number of requests that may wait for a thread to take them. On RoCE and
     *     InfiniBand further requests are dropped, and their senders retransmit them until their
     *     deadline; on iWARP they are rejected
     * @throws VerbsException if no RDMA device has the address, or the port is in use
     */
    public Listener listen(InetSocketAddress address, int backlog) throws VerbsException {
        return new Listener(
                listening(requests -> requests.newIdentifier(PortSpace.TCP), address, backlog));
    }

    /**
     * Listens at a device, with a backlog of 128 requests.
     *
     * @param port the port number; 0 for a free port
     * @throws VerbsException if the device's IP address is not known, as on InfiniBand and iWARP,
     *     or the port is in use
     */
    public Listener listen(Device device, int port) throws VerbsException {
        var addresses = LocalDevices.addresses(device);
        if (addresses.isEmpty()) {
            throw new VerbsException(
                    "rdma_bind_addr",
                    "The IP address of %s is not known: listen at an address.".formatted(device));
        }
        return listen(new InetSocketAddress(addresses.getFirst(), port));
    }

    /**
     * Listens at an address that was looked up.
     *
     * @throws IllegalArgumentException if the address is one to connect to
     */
    public Listener listen(AddressInfo info, int backlog) throws VerbsException {
        if (info.peer().isPresent()) {
            throw new IllegalArgumentException(info + " is to be connected to, not listened for");
        }
        return new Listener(listening(requests -> requests.newIdentifier(info), null, backlog));
    }

    @FunctionalInterface
    private interface Making {
        Identifier in(EventChannel channel) throws VerbsException;
    }

    /**
     * @param address null if the identifier is bound already
     */
    private RequestQueue listening(Making making, @Nullable InetSocketAddress address, int backlog)
            throws VerbsException {
        var connections = channel();
        var incoming = EventChannel.waitable(library, devices);
        // Reachable from here, so that a leaked listener is reported, and not its channel.
        listening.add(incoming);
        incoming.ownLifetime().onClose(() -> listening.remove(incoming));
        var done = false;
        try {
            var identifier = making.in(incoming);
            if (address != null) {
                identifier.bind(address);
            }
            identifier.listen(backlog);
            var requests = new RequestQueue(incoming, connections, identifier, devices);
            done = true;
            return requests;
        } finally {
            if (!done) {
                incoming.close();
            }
        }
    }

    /**
     * Asks a peer for the destination of a service's datagrams.
     *
     * @param privateData for the service's program: at most 180 bytes
     * @throws CmException if there is no route to the peer, or it has no such service
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalArgumentException if the private data is longer
     */
    public DatagramService findDatagrams(
            InetSocketAddress service, Duration timeout, byte... privateData)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        try (var identifier = channel().newIdentifier(PortSpace.UDP)) {
            RouteResolution.find(identifier, null, service, deadline);
            identifier.connect(ConnectionParameters.ofDatagrams(0), privateData);
            var missed = "No answer from the service at " + service;
            var established =
                    RouteResolution.await(
                            ConnectionEvent.DatagramEstablished.class,
                            identifier,
                            deadline,
                            "rdma_connect",
                            missed,
                            missed + " has come");
            return new DatagramService(
                    identifier.deviceName().orElseThrow(),
                    established.parameters(),
                    established.privateData());
        }
    }

    /**
     * Listens for requests for the destination of a service's datagrams, with a backlog of 128.
     * Port 0 stands for a free port, and the wildcard address for all RDMA devices of this machine.
     *
     * @throws VerbsException if no RDMA device has the address, or the port is in use
     */
    public DatagramListener listenForDatagrams(InetSocketAddress address) throws VerbsException {
        return new DatagramListener(
                listening(requests -> requests.newIdentifier(PortSpace.UDP), address, BACKLOG));
    }

    /**
     * Looks up the address of a service. The best address comes first; librdmacm returns one. In C:
     * {@code rdma_getaddrinfo}, and {@code rdma_freeaddrinfo}.
     *
     * @throws VerbsException if the name is not known; its code is an error of {@code getaddrinfo},
     *     below zero
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public List<AddressInfo> lookUp(AddressQuery wanted, Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        var attempt =
                new Attempt(
                        "rdma_getaddrinfo", () -> "for " + wanted, AddressErrors::adviceOnLookUp);
        var found = new CompletableFuture<List<AddressInfo>>();
        // The call cannot be interrupted, so that it is abandoned when the timeout expires.
        Thread.ofPlatform()
                .daemon()
                .name("jrdma-look-up")
                .start(() -> {
                    try {
                        found.complete(library.addresses().lookUp(wanted, attempt));
                    } catch (Throwable e) {
                        found.completeExceptionally(e);
                    }
                });
        try {
            return found.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw deadline.missed("Nobody has told the address of " + wanted);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while looking up " + wanted);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof VerbsException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Created when first needed, because there may be no device. */
    private synchronized EventChannel channel() throws VerbsException {
        if (channel == null || channel.isBroken()) {
            channel = EventChannel.dispatching(library, devices);
        }
        return channel;
    }

    /**
     * The lifetimes of the open routes, requests, listeners and connections, for tests that check
     * that a program has closed everything.
     */
    public synchronized List<Lifetime> openIdentifiers() {
        return Stream.concat(Stream.ofNullable(channel), listening.stream())
                .flatMap(one -> one.ownLifetime().dependents().stream())
                .toList();
    }

    /** The location of the library. */
    @Override
    public String toString() {
        return library.library().toString();
    }
}
