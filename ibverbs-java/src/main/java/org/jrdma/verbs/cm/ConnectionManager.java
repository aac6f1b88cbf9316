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
import org.jrdma.verbs.cm.model.DatagramParameters;
import org.jrdma.verbs.cm.model.DatagramService;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.internal.SoftwareFabric;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * librdmacm, as found on this machine or in a provider: where connections come from.
 *
 * <p>One thread takes the events of all connections, so any number of threads, virtual ones too,
 * may wait for theirs, and none of them waits in native code. It stays open for as long as the JVM
 * runs. Safe for use by several threads.
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
     * The machine's own librdmacm. The same each time.
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
     * The connection manager of {@link org.jrdma.verbs.Verbs#software()}, between whose devices,
     * and from them to real ones, it connects. The same each time.
     *
     * @throws LibraryNotFoundException if there is none on the class path or the module path; the
     *     message says what to add
     * @throws IllegalArgumentException if a system property of its own makes no sense
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
     * What the system property {@code jrdma.fabric} says, as for {@link
     * org.jrdma.verbs.Verbs#configured()}.
     *
     * @throws LibraryNotFoundException if that is not there
     * @throws IllegalArgumentException if it says something else
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
     * A librdmacm that a provider answers for. It may be a libibverbs too: then {@link
     * org.jrdma.verbs.Verbs#from} has the devices that this connects.
     *
     * @throws LibraryNotFoundException if it lacks a function that every version has
     */
    public static ConnectionManager from(LibraryProvider provider) throws LibraryNotFoundException {
        return new ConnectionManager(
                new ConnectionLibrary(NativeLibrary.from(provider)), () -> Verbs.from(provider));
    }

    /**
     * Makes a channel for programs that take every step themselves. In C: {@code
     * rdma_create_event_channel}.
     *
     * @throws VerbsException if this machine has no RDMA device, or its files are not for this user
     */
    public EventChannel newEventChannel() throws VerbsException {
        return EventChannel.waitable(library, devices);
    }

    /**
     * Finds the way to a peer, for programs that open the device that leads there only then.
     *
     * @param timeout how long to look for it
     * @throws CmException if no RDMA device leads to the address, or nobody there answers to it
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public Route resolve(InetSocketAddress address, Duration timeout)
            throws FabricException, InterruptedIOException {
        return resolve(address, Deadline.after(timeout));
    }

    /**
     * The same, without waiting. A future that is cancelled ends it at once, and leaves nothing
     * behind.
     */
    public CompletableFuture<Route> resolveAsync(InetSocketAddress address, Duration timeout) {
        return Cancellable.start(
                "jrdma-resolve-async", () -> resolve(address, timeout), Route::close);
    }

    /**
     * The same for what was looked up to be connected to.
     *
     * @throws IllegalArgumentException if it is to be listened for
     */
    public Route resolve(AddressInfo info, Duration timeout)
            throws FabricException, InterruptedIOException {
        var peer =
                info.peer()
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        info + " is to be listened for, not connected to"));
        return route(channel().newIdentifier(info), null, peer, Deadline.after(timeout));
    }

    private Route resolve(InetSocketAddress address, Deadline deadline)
            throws FabricException, InterruptedIOException {
        return route(channel().newIdentifier(PortSpace.TCP), null, address, deadline);
    }

    private Route route(
            ConnectionOptions<?> options,
            @Nullable InetSocketAddress source,
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
        return route(identifier, source, address, deadline);
    }

    /**
     * @param source null for any
     */
    private static Route route(
            Identifier identifier,
            @Nullable InetSocketAddress source,
            InetSocketAddress address,
            Deadline deadline)
            throws FabricException, InterruptedIOException {
        var done = false;
        try {
            resolve(identifier, source, address, deadline);
            var route = new Route(identifier);
            done = true;
            return route;
        } finally {
            if (!done) {
                identifier.close();
            }
        }
    }

    private static void resolve(
            Identifier identifier,
            @Nullable InetSocketAddress source,
            InetSocketAddress address,
            Deadline deadline)
            throws FabricException, InterruptedIOException {
        if (address.getPort() == 0) {
            throw new IllegalArgumentException(
                    "Nobody listens at port 0 of %s: it stands for any port, where one listens"
                            .formatted(address.getAddress()));
        }
        if (source == null) {
            identifier.resolveAddress(address, longer(deadline));
        } else {
            identifier.resolveAddress(source, address, longer(deadline));
        }
        var noWay =
                "No way to the address "
                        + address
                        + (source == null ? "" : " from " + source.getAddress());
        await(
                ConnectionEvent.AddressResolved.class,
                identifier,
                deadline,
                "rdma_resolve_addr",
                noWay,
                noWay + " was found");
        identifier.resolveRoute(longer(deadline));
        var noRoute = "No route to " + address;
        await(
                ConnectionEvent.RouteResolved.class,
                identifier,
                deadline,
                "rdma_resolve_route",
                noRoute,
                noRoute + " was found");
    }

    /** So that it is the caller's deadline that passes, and not at times the kernel's. */
    private static Duration longer(Deadline deadline) {
        return Duration.ofNanos(Math.max(0, deadline.remainingNanos())).plusSeconds(1);
    }

    /**
     * @param attempt what to say has failed
     * @param missed what to say has not happened in time
     */
    private static <E extends ConnectionEvent> E await(
            Class<E> expected,
            Identifier identifier,
            Deadline deadline,
            String function,
            String attempt,
            String missed)
            throws FabricException, InterruptedIOException {
        var event = identifier.events().awaitAnswer(deadline, function, attempt, missed);
        if (!expected.isInstance(event)) {
            throw new VerbsException(function, "%s: %s".formatted(attempt, event));
        }
        return expected.cast(event);
    }

    /**
     * Connects, and waits until the peer has accepted.
     *
     * <p>The local device is that of the protection domain: if the options have no local address,
     * and the system would choose another device, the connection is made from an address of the
     * domain's device. Such an address is known on RoCE and on the software fabric.
     *
     * @param domain the protection domain of the queue pair
     * @param timeout the timeout of all steps together
     * @throws CmException if there is no way to the peer, or it refuses
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
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
        var route = route(options, local.orElse(null), address, deadline);
        if (local.isEmpty() && !route.deviceName().equals(domain.device().name())) {
            var source = addressTowards(address, domain.device());
            if (source.isPresent()) {
                route.close();
                route = route(options, source.get(), address, deadline);
            }
        }
        return route.connect(domain, options, deadline);
    }

    /** An address of a device from which a peer may be reached. */
    private static Optional<InetSocketAddress> addressTowards(
            InetSocketAddress peer, Device device) throws VerbsException {
        return LocalDevices.addresses(device).stream()
                .filter(local -> LocalDevices.isOfOneFamily(local, peer.getAddress()))
                .findFirst()
                .map(local -> new InetSocketAddress(local, 0));
    }

    /**
     * The same, without waiting. A future that is cancelled ends it at once, and leaves nothing
     * behind.
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

    /** Listens, with room for 128 requests that nobody has taken. */
    public Listener listen(InetSocketAddress address) throws VerbsException {
        return listen(address, BACKLOG);
    }

    /**
     * Listens. Port 0 is any that is free, and the wildcard address stands for all of this
     * machine's devices.
     *
     * @param backlog how many requests may wait for a thread to take them. On RoCE and InfiniBand
     *     more are not heard, and their senders ask again until their deadline; on iWARP they are
     *     refused
     * @throws VerbsException if no RDMA device has the address, or the port is taken
     */
    public Listener listen(InetSocketAddress address, int backlog) throws VerbsException {
        return new Listener(
                listening(requests -> requests.newIdentifier(PortSpace.TCP), address, backlog));
    }

    /**
     * Listens at a device, with room for 128 requests that no thread has taken.
     *
     * @param port the port number; 0 for a free port
     * @throws VerbsException if the device's IP address is not known, as on InfiniBand and iWARP, or
     *     the port is in use
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
     * The same for what was looked up to be listened for.
     *
     * @throws IllegalArgumentException if it is to be connected to
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
     * @param address null for what is bound
     */
    private RequestQueue listening(Making making, @Nullable InetSocketAddress address, int backlog)
            throws VerbsException {
        var connections = channel();
        var incoming = EventChannel.waitable(library, devices);
        // Kept, so that it is the listener that is reported if a program forgets that.
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
     * Asks a peer where the datagrams of a service go.
     *
     * @param privateData for the service's program: at most 180 bytes
     * @throws CmException if there is no way to the peer, or it has no such service
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalArgumentException if the private data is longer
     */
    public DatagramService findDatagrams(
            InetSocketAddress service, Duration timeout, byte... privateData)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        try (var identifier = channel().newIdentifier(PortSpace.UDP)) {
            resolve(identifier, null, service, deadline);
            identifier.connect(ConnectionParameters.ofDatagrams(0), privateData);
            var missed = "No answer from the service at " + service;
            var established =
                    await(
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
     * Listens for peers that ask where datagrams go, with room for 128 that nobody has answered.
     * Port 0 is any that is free, and the wildcard address stands for all of this machine's
     * devices.
     *
     * @throws VerbsException if no RDMA device has the address, or the port is taken
     */
    public DatagramListener listenForDatagrams(InetSocketAddress address) throws VerbsException {
        return new DatagramListener(
                listening(requests -> requests.newIdentifier(PortSpace.UDP), address, BACKLOG));
    }

    /**
     * Looks up where a service is. The best comes first; librdmacm gives one. In C: {@code
     * rdma_getaddrinfo}, and {@code rdma_freeaddrinfo}.
     *
     * @param timeout how long to wait for who knows names
     * @throws VerbsException if nobody knows that name; its code is then a number of {@code
     *     getaddrinfo}, below zero
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public List<AddressInfo> lookUp(AddressQuery wanted, Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        var attempt = new Attempt("rdma_getaddrinfo", () -> "for " + wanted, AddressErrors::adviceOnLookUp);
        var found = new CompletableFuture<List<AddressInfo>>();
        // Nothing ends the call: it is left alone when the time is over.
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

    /** Made when it is first needed: there may be no device. */
    private synchronized EventChannel channel() throws VerbsException {
        if (channel == null || channel.isBroken()) {
            channel = EventChannel.dispatching(library, devices);
        }
        return channel;
    }

    /**
     * The lifetimes of the native identifiers of what was made here and is not closed: of routes,
     * requests, listeners and connections. For tests that look for what a program has left open.
     */
    public synchronized List<Lifetime> openIdentifiers() {
        return Stream.concat(Stream.ofNullable(channel), listening.stream())
                .flatMap(one -> one.ownLifetime().dependents().stream())
                .toList();
    }

    /** Where the library was found. */
    @Override
    public String toString() {
        return library.library().toString();
    }
}
