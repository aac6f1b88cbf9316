package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.VerbsException;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.internal.SoftwareFabric;
import org.jspecify.annotations.Nullable;

/**
 * librdmacm, as found on this machine or in a provider: where connections come from.
 *
 * <p>One thread takes the events of all connections, so any number of threads, virtual ones too,
 * may wait for theirs, and none of them waits in native code. It stays open for as long as the JVM
 * runs. Safe for use by several threads.
 */
public final class ConnectionManager {

    private static @Nullable ConnectionManager system;
    private static @Nullable ConnectionManager software;

    private final ConnectionLibrary library;
    private @Nullable EventChannel channel;

    private ConnectionManager(ConnectionLibrary library) {
        this.library = library;
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
                            new ConnectionLibrary(NativeLibrary.open(ConnectionLibrary.NAME)));
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
            software = new ConnectionManager(new ConnectionLibrary(SoftwareFabric.library()));
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
        return new ConnectionManager(new ConnectionLibrary(NativeLibrary.from(provider)));
    }

    /**
     * Makes a channel for programs that take every step themselves. In C: {@code
     * rdma_create_event_channel}.
     *
     * @throws VerbsException if this machine has no RDMA device, or its files are not for this user
     */
    public EventChannel newEventChannel() throws VerbsException {
        return EventChannel.waitable(library);
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

    private Route resolve(InetSocketAddress address, Deadline deadline)
            throws FabricException, InterruptedIOException {
        var identifier = channel().newIdentifier(PortSpace.TCP);
        var done = false;
        try {
            identifier.resolveAddress(address, longer(deadline));
            await(identifier, deadline, "rdma_resolve_addr", "No way to the address " + address);
            identifier.resolveRoute(longer(deadline));
            await(identifier, deadline, "rdma_resolve_route", "No route to " + address);
            done = true;
            return new Route(identifier);
        } finally {
            if (!done) {
                identifier.close();
            }
        }
    }

    /** So that it is the caller's deadline that passes, and not at times the kernel's. */
    private static Duration longer(Deadline deadline) {
        return Duration.ofNanos(Math.max(0, deadline.remainingNanos())).plusSeconds(1);
    }

    private static void await(
            Identifier identifier, Deadline deadline, String function, String missed)
            throws FabricException, InterruptedIOException {
        var event = identifier.inbox().take(deadline, missed + " was found");
        if (event instanceof ConnectionEvent.Failure failure) {
            throw new CmException(function, missed, failure);
        }
    }

    /**
     * Connects, and waits until the peer has accepted.
     *
     * @param domain of the device that leads to the peer
     * @param timeout for all of it
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
        return resolve(address, deadline).connect(domain, options, deadline);
    }

    /** The same, without waiting. A future that is cancelled before leaves no connection behind. */
    public <Q extends QueuePair> CompletableFuture<Connection<Q>> connectAsync(
            InetSocketAddress address,
            ProtectionDomain domain,
            ConnectionOptions<Q> options,
            Duration timeout) {
        var future = new CompletableFuture<Connection<Q>>();
        Thread.ofVirtual()
                .name("jrdma-connect-async")
                .start(() -> {
                    try {
                        var connection = connect(address, domain, options, timeout);
                        if (!future.complete(connection)) {
                            connection.close();
                        }
                    } catch (Throwable e) {
                        future.completeExceptionally(e);
                    }
                });
        return future;
    }

    /** Listens, with room for 128 requests that nobody has answered. */
    public Listener listen(InetSocketAddress address) throws VerbsException {
        return listen(address, 128);
    }

    /**
     * Listens. Port 0 is any that is free, and the wildcard address stands for all of this
     * machine's devices.
     *
     * @param backlog how many requests may wait for an answer; others are refused
     * @throws VerbsException if no RDMA device has the address, or the port is taken
     */
    public Listener listen(InetSocketAddress address, int backlog) throws VerbsException {
        var identifier = channel().newIdentifier(PortSpace.TCP);
        try {
            identifier.bind(address);
            identifier.listen(backlog);
        } catch (VerbsException | RuntimeException e) {
            identifier.close();
            throw e;
        }
        return new Listener(identifier);
    }

    /** Made when it is first needed: there may be no device. */
    private synchronized EventChannel channel() throws VerbsException {
        if (channel == null) {
            channel = EventChannel.dispatching(library);
        }
        return channel;
    }

    /** Where the library was found. */
    @Override
    public String toString() {
        return library.library().toString();
    }
}
