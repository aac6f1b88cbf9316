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
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.ConfiguredFabric;
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
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.internal.SoftwareFabricLoader;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A connection manager, which is the entry point for connections. It uses the installed librdmacm,
 * the software fabric, or a librdmacm that a library provider supplies.
 *
 * <p>A single thread receives the events of all connections. Any number of platform or virtual
 * threads can therefore wait for connections without blocking in native code. A connection manager
 * is never closed. Safe for use by multiple threads.
 */
public final class ConnectionManager {

    private static final int BACKLOG = 128;

    private static @Nullable ConnectionManager system;
    private static @Nullable ConnectionManager software;

    private final ConnectionLibrary library;
    private final LocalDeviceAddresses devices;
    private final Set<EventChannel> listenerChannels = ConcurrentHashMap.newKeySet();
    private @Nullable EventChannel channel;

    private ConnectionManager(ConnectionLibrary library, LocalDeviceAddresses.Source verbs) {
        this.library = library;
        this.devices = new LocalDeviceAddresses(verbs);
    }

    /**
     * Returns the connection manager of the installed librdmacm. Always returns the same object.
     *
     * @throws LibraryNotFoundException if librdmacm is not installed; the message names the
     *     packages to install
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
     * Returns the connection manager of the software fabric, {@link Verbs#software()}. Always
     * returns the same object. It connects software devices to each other and to RDMA hardware.
     *
     * @throws LibraryNotFoundException if the software fabric is not on the class path or the
     *     module path; the message names the dependency to add
     * @throws IllegalArgumentException if a system property of the software fabric is invalid
     */
    public static synchronized ConnectionManager software() throws LibraryNotFoundException {
        if (software == null) {
            software =
                    new ConnectionManager(
                            new ConnectionLibrary(SoftwareFabricLoader.library()), Verbs::software);
        }
        return software;
    }

    /**
     * Returns the connection manager that the system property {@code jrdma.fabric} selects: {@code
     * system}, which is the default, or {@code software}. See {@link Verbs#configured()}.
     *
     * @throws LibraryNotFoundException if the selected library is not installed
     * @throws IllegalArgumentException if the property has any other value
     */
    public static ConnectionManager configured() throws LibraryNotFoundException {
        return switch (ConfiguredFabric.get()) {
            case SYSTEM -> system();
            case SOFTWARE -> software();
        };
    }

    /**
     * Returns a connection manager that uses the librdmacm of a library provider. If the provider
     * also supplies a libibverbs, {@link Verbs#from} with the same provider returns the devices of
     * the connection manager.
     *
     * @throws LibraryNotFoundException if the library lacks a function that all versions of
     *     librdmacm have
     */
    public static ConnectionManager from(LibraryProvider provider) throws LibraryNotFoundException {
        return new ConnectionManager(
                new ConnectionLibrary(NativeLibrary.from(provider)), () -> Verbs.from(provider));
    }

    /**
     * Creates an event channel, for programs that perform each step of a connection themselves by
     * an {@link Identifier}. In C: {@code rdma_create_event_channel}.
     *
     * @throws VerbsException if this machine has no RDMA device, or the user lacks permission
     */
    public EventChannel newEventChannel() throws VerbsException {
        return EventChannel.waitable(library, devices);
    }

    /**
     * Resolves the route to a peer. Programs use this method if they open the local device only
     * after they know through which device the peer is reachable.
     *
     * @throws CmException if the address is not reachable through an RDMA device, or no host
     *     answers to it
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public Route resolve(InetSocketAddress address, Duration timeout)
            throws FabricException, InterruptedIOException {
        return RouteResolution.resolve(
                channel().newIdentifier(PortSpace.TCP), null, address, Deadline.after(timeout));
    }

    /**
     * Resolves the route to a peer without blocking; see {@link #resolve(InetSocketAddress,
     * Duration)}. Canceling the future aborts the attempt and closes all objects that it created.
     */
    public CompletableFuture<Route> resolveAsync(InetSocketAddress address, Duration timeout) {
        return CancellableCall.start(
                "jrdma-resolve-async", () -> resolve(address, timeout), Route::close);
    }

    /**
     * Resolves the route to a service whose address {@link #lookUp} returned.
     *
     * @throws IllegalArgumentException if the address is an address to listen at
     */
    public Route resolve(AddressInfo info, Duration timeout)
            throws FabricException, InterruptedIOException {
        var peer =
                info.peer()
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        "Cannot connect to %s: it is an address to listen at. Create the query with AddressQuery.to()."
                                                .formatted(info)));
        return RouteResolution.resolve(
                channel().newIdentifier(info), null, peer, Deadline.after(timeout));
    }

    /**
     * Connects to a peer, and waits until the peer has accepted the connection.
     *
     * <p>The connection uses the device of the protection domain. If the options specify no local
     * address and the system would choose another device, this method connects from an IP address
     * of the domain's device. The IP addresses of a device are known only on RoCE and on the
     * software fabric.
     *
     * @param domain the protection domain of the queue pair
     * @param timeout the timeout for all steps together
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
        var local = options.localAddress;
        var route = resolve(options, local.orElse(null), address, deadline);
        if (local.isEmpty()
                && !route.deviceName().equals(domain.device().name())
                && !route.isIwarp()) {
            var other = sourceAddress(address, domain.device());
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
        try {
            if (options.typeOfService.isPresent()) {
                identifier.typeOfService(options.typeOfService.getAsInt());
            }
            return RouteResolution.resolve(identifier, local, address, deadline);
        } catch (Throwable e) {
            identifier.close();
            throw e;
        }
    }

    /**
     * Returns a device address whose address family is that of the peer address; empty if none is
     * known.
     */
    private static Optional<InetSocketAddress> sourceAddress(InetSocketAddress peer, Device device)
            throws VerbsException {
        return LocalDeviceAddresses.addresses(device).stream()
                .filter(local -> LocalDeviceAddresses.isSameFamily(local, peer.getAddress()))
                .findFirst()
                .map(local -> new InetSocketAddress(local, 0));
    }

    /**
     * Connects to a peer without blocking; see {@link #connect}. Canceling the future aborts the
     * attempt and closes all objects that it created.
     */
    public <Q extends QueuePair> CompletableFuture<Connection<Q>> connectAsync(
            InetSocketAddress address,
            ProtectionDomain domain,
            ConnectionOptions<Q> options,
            Duration timeout) {
        return CancellableCall.start(
                "jrdma-connect-async",
                () -> connect(address, domain, options, timeout),
                Connection::close);
    }

    /**
     * Connects a channel to a peer that {@linkplain ConnectionRequest#acceptChannel accepts}
     * channels.
     *
     * @param domain the protection domain, which determines the local device
     * @throws IllegalArgumentException if the private data is too long
     * @throws CmException if there is no route to the peer, or the peer rejects the connection
     * @throws VerbsException if the peer accepts the connection but not as a channel
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public RdmaChannel connectChannel(
            InetSocketAddress address,
            ProtectionDomain domain,
            RdmaChannelOptions options,
            Duration timeout)
            throws FabricException, InterruptedIOException {
        return RdmaChannelOpener.connect(
                domain, options, connection -> connect(address, domain, connection, timeout));
    }

    /**
     * Creates a listener at an address, with a backlog of 128 connect requests; see {@link
     * #listen(InetSocketAddress, int)}.
     */
    public Listener listen(InetSocketAddress address) throws VerbsException {
        return listen(address, BACKLOG);
    }

    /**
     * Creates a listener at an address. Port 0 selects a free port. The wildcard address selects
     * all RDMA devices of this machine; see {@link Listener#localAddresses()}.
     *
     * @param backlog the maximum number of connect requests that wait to be returned by {@link
     *     Listener#next}. If the backlog is full, further requests are dropped on RoCE and
     *     InfiniBand, where the peers retransmit them until they time out; on iWARP they are
     *     rejected
     * @throws VerbsException if no RDMA device has the address, or the port is in use
     */
    public Listener listen(InetSocketAddress address, int backlog) throws VerbsException {
        return new Listener(
                newRequestQueue(channel -> channel.newIdentifier(PortSpace.TCP), address, backlog));
    }

    /**
     * Creates a listener at the {@linkplain Device#ipAddress IP address} of a device, with a
     * backlog of 128 connect requests.
     *
     * @param port the port number; 0 for a free port
     * @throws VerbsException if the port is in use, or the IP address of the device is unknown, as
     *     on InfiniBand and iWARP
     */
    public Listener listen(Device device, int port) throws VerbsException {
        var address =
                device.ipAddress()
                        .orElseThrow(() ->
                                new VerbsException(
                                        "rdma_bind_addr",
                                        "Cannot listen at %s: its IP address is unknown. Pass an address instead of the device."
                                                .formatted(device)));
        return listen(new InetSocketAddress(address, port));
    }

    /**
     * Creates a listener at an address that {@link #lookUp} returned.
     *
     * @throws IllegalArgumentException if the address is an address to connect to
     */
    public Listener listen(AddressInfo info, int backlog) throws VerbsException {
        if (info.peer().isPresent()) {
            throw new IllegalArgumentException(
                    "Cannot listen at %s: it is an address to connect to. Create the query with AddressQuery.at()."
                            .formatted(info));
        }
        return new Listener(newRequestQueue(channel -> channel.newIdentifier(info), null, backlog));
    }

    @FunctionalInterface
    private interface IdentifierFactory {
        Identifier newIdentifier(EventChannel channel) throws VerbsException;
    }

    /**
     * @param address the address to bind to, or null if the new {@link Identifier} is already bound
     */
    private RequestQueue newRequestQueue(
            IdentifierFactory factory, @Nullable InetSocketAddress address, int backlog)
            throws VerbsException {
        var connections = channel();
        var incoming = EventChannel.waitable(library, devices);
        // The set keeps the channel reachable. Otherwise, a listener that the program has not
        // closed would be reported as two leaks.
        listenerChannels.add(incoming);
        incoming.ownLifetime().onClose(() -> listenerChannels.remove(incoming));
        try {
            var identifier = factory.newIdentifier(incoming);
            if (address != null) {
                identifier.bind(address);
            }
            identifier.listen(backlog);
            return new RequestQueue(incoming, connections, identifier, devices);
        } catch (Throwable e) {
            incoming.close();
            throw e;
        }
    }

    /**
     * Requests the queue pair number and queue key of a datagram service from a peer, and waits for
     * the answer. The protocol is service ID resolution (SIDR).
     *
     * @param privateData private data for the service's program: at most 180 bytes
     * @throws CmException if there is no route to the peer, or the peer does not offer the service
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalArgumentException if the private data is longer than this limit
     */
    public DatagramService findDatagramService(
            InetSocketAddress service, Duration timeout, byte... privateData)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        try (var identifier = channel().newIdentifier(PortSpace.UDP)) {
            RouteResolution.resolveIdentifier(identifier, null, service, deadline);
            identifier.connect(ConnectionParameters.forDatagrams(0), privateData);
            var failure = "No answer from the service at " + AddressText.of(service);
            var established =
                    RouteResolution.await(
                            ConnectionEvent.DatagramEstablished.class,
                            identifier,
                            deadline,
                            "rdma_connect",
                            failure,
                            failure + " arrived");
            return new DatagramService(
                    identifier.deviceName().orElseThrow(),
                    established.parameters(),
                    established.privateData());
        }
    }

    /**
     * Creates a listener for {@linkplain DatagramServiceRequest requests} for a datagram service,
     * with a backlog of 128 requests. Port 0 selects a free port. The wildcard address selects all
     * RDMA devices of this machine.
     *
     * @throws VerbsException if no RDMA device has the address, or the port is in use
     */
    public DatagramListener listenForDatagrams(InetSocketAddress address) throws VerbsException {
        return new DatagramListener(
                newRequestQueue(channel -> channel.newIdentifier(PortSpace.UDP), address, BACKLOG));
    }

    /**
     * Looks up the addresses of a service. The best address is the first in the list; current
     * versions of librdmacm return only one address. In C: {@code rdma_getaddrinfo}, and {@code
     * rdma_freeaddrinfo}.
     *
     * @throws VerbsException if the name is unknown; the exception's code is the negative error
     *     code of {@code getaddrinfo}
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public List<AddressInfo> lookUp(AddressQuery query, Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        var attempt =
                new CheckedCall(
                        "rdma_getaddrinfo",
                        () -> "for " + query,
                        AddressErrorMessages::adviceOnLookUp);
        var addresses = new CompletableFuture<List<AddressInfo>>();
        // The native call ignores interrupts, so it runs on a separate thread. If the timeout
        // expires, this thread is abandoned.
        Thread.ofPlatform()
                .daemon()
                .name("jrdma-look-up")
                .start(() -> {
                    try {
                        addresses.complete(library.addresses().lookUp(query, attempt));
                    } catch (Throwable e) {
                        addresses.completeExceptionally(e);
                    }
                });
        try {
            return addresses.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw deadline.missed("The name service returned no address of " + query);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while looking up " + query);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof VerbsException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /**
     * Returns the event channel of all connections. It is created on the first call, and again if
     * it has failed.
     */
    private synchronized EventChannel channel() throws VerbsException {
        if (channel == null || channel.isBroken()) {
            channel = EventChannel.dispatching(library, devices);
        }
        return channel;
    }

    /**
     * The lifetimes of all open routes, requests, listeners and connections. Tests use this method
     * to find objects that a program has not closed.
     */
    public synchronized List<Lifetime> openIdentifiers() {
        return Stream.concat(Stream.ofNullable(channel), listenerChannels.stream())
                .flatMap(eventChannel -> eventChannel.ownLifetime().dependents().stream())
                .toList();
    }

    /** Returns the location of the library. */
    @Override
    public String toString() {
        return library.library().toString();
    }
}
