package org.jrdma.stress.fuzz;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.jrdma.verbs.QueuePairOptions.datagrams;
import static org.jrdma.verbs.QueuePairOptions.reliable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jrdma.benchmarks.NullProvider;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.SoftDevice;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.RdmaChannelOptions;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jspecify.annotations.Nullable;

/**
 * Runs the fuzzer on ibverbs-java, with the C provider of the benchmarks, which detects the use of
 * destroyed objects, with roce-soft, or with the system's libraries.
 */
final class VerbsTarget implements Target {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Access[] ALL = {
        Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC
    };

    private final Verbs verbs;
    private final @Nullable ConnectionManager connections;
    private final @Nullable SoftDevice device;
    private final String deviceName;
    private final InetAddress address;

    private VerbsTarget(
            Verbs verbs,
            @Nullable ConnectionManager connections,
            @Nullable SoftDevice device,
            String deviceName,
            InetAddress address) {
        this.verbs = verbs;
        this.connections = connections;
        this.device = device;
        this.deviceName = deviceName;
        this.address = address;
    }

    static VerbsTarget detector(InetAddress address) throws Exception {
        NullProvider.instance().linger(20);
        return new VerbsTarget(
                NullProvider.instance().verbs(), null, null, NullProvider.DEVICE, address);
    }

    /** Uses the system's libraries and a device of the kernel. */
    static VerbsTarget system(String deviceName, InetAddress address) throws Exception {
        return new VerbsTarget(
                Verbs.system(), ConnectionManager.system(), null, deviceName, address);
    }

    static VerbsTarget software(InetAddress address) throws Exception {
        var software = SoftRoce.at(address);
        var device = software.devices().getFirst();
        var file = System.getProperty(RecentlySentPackets.PROPERTY);
        if (file != null) {
            device.listen(RecentlySentPackets.create(Path.of(file))::add);
        }
        return new VerbsTarget(
                Verbs.from(software),
                ConnectionManager.from(software),
                device,
                device.name(),
                address);
    }

    @Override
    public List<Class<?>> modules() {
        return List.of(FabricException.class, Verbs.class);
    }

    @Override
    public InetAddress address() {
        return address;
    }

    @Override
    public void flapLink() throws InterruptedException {
        if (device != null) {
            device.linkDown();
            Thread.sleep(10);
            device.linkUp();
        }
    }

    @Override
    public boolean isRoot(Object object) {
        return object instanceof Device || object instanceof ProtectionDomain;
    }

    @Override
    public void seed(Consumer<Object> keep) throws Exception {
        keep.accept(verbs);
        var device = verbs.open(deviceName);
        keep.accept(device);
        var domain = device.newProtectionDomain();
        keep.accept(domain);
        var arena = domain.newArena(ALL);
        keep.accept(arena);
        var region = arena.region(4096);
        keep.accept(region);
        keep.accept(region.slice(0, 64));
        keep.accept(region.remote());
        keep.accept(domain.newPolledSharedReceiveQueue(16));
        seedPolled(domain, region, keep);
        seedAsync(domain, region, keep);
        if (connections != null) {
            seedConnections(connections, domain, keep);
        }
    }

    private static void seedPolled(
            ProtectionDomain domain, MemoryRegion region, Consumer<Object> keep) throws Exception {
        var queue =
                domain.device().newCompletionQueue(CompletionQueueOptions.capacity(256).waitable());
        keep.accept(queue);
        keep.accept(queue.newCursor(8));
        var pair = domain.newQueuePair(reliable(queue).sends(16).receives(16).inlineBytes(64));
        pair.connect(pair.endpoint());
        keep.accept(pair);
        keep.accept(pair.endpoint());
        keep.accept(pair.prepareWrite(region.slice(0, 64), region.remote()));
        keep.accept(pair.prepareRead(region.slice(0, 64), region.remote()));
        keep.accept(pair.prepareSend(region.slice(0, 8)));
        keep.accept(pair.prepareReceive(region.slice(0, 64)));
        keep.accept(pair.prepareFetchAndAdd(region.slice(0, 8), region.remote()));
        var datagrams = domain.newQueuePair(datagrams(queue));
        datagrams.activate(1);
        keep.accept(datagrams);
    }

    private static void seedAsync(
            ProtectionDomain domain, MemoryRegion region, Consumer<Object> keep) throws Exception {
        var dispatcher = domain.device().newCompletionDispatcher(64);
        keep.accept(dispatcher);
        var pair = domain.newReliableQueuePair(dispatcher);
        pair.connect(pair.endpoint());
        keep.accept(pair);
        keep.accept(pair.write(region.slice(0, 64), region.remote()));
    }

    private void seedConnections(
            ConnectionManager manager, ProtectionDomain domain, Consumer<Object> keep)
            throws Exception {
        keep.accept(manager);
        var channel = manager.newEventChannel();
        keep.accept(channel);
        keep.accept(channel.newIdentifier(PortSpace.TCP));
        var listener = manager.listen(new InetSocketAddress(address, 0));
        keep.accept(listener);
        keep.accept(listener.localAddress());
        var queue = domain.device().newCompletionQueue(64);
        keep.accept(queue);
        var accepted =
                listener.acceptAsync(
                        domain, ConnectionOptions.of(reliable(queue)), Duration.ofSeconds(2));
        keep.accept(
                manager.connect(
                        listener.localAddress(),
                        domain,
                        ConnectionOptions.of(reliable(queue)),
                        Duration.ofSeconds(2)));
        keep.accept(accepted.get(2, SECONDS));
        var peer =
                listener.nextAsync(Duration.ofSeconds(2))
                        .thenApplyAsync(request -> {
                            try {
                                return request.acceptChannel(
                                        domain, RdmaChannelOptions.DEFAULT, Duration.ofSeconds(2));
                            } catch (java.io.IOException e) {
                                throw new java.io.UncheckedIOException(e);
                            }
                        });
        keep.accept(
                manager.connectChannel(
                        listener.localAddress(),
                        domain,
                        RdmaChannelOptions.DEFAULT,
                        Duration.ofSeconds(2)));
        keep.accept(peer.get(2, SECONDS));
    }

    @Override
    public void verify() throws Exception {
        try (var device = verbs.open(deviceName);
                var domain = device.newProtectionDomain();
                var arena = domain.newArena(ALL);
                var region = arena.region(4096);
                var dispatcher = device.newCompletionDispatcher(64);
                var pair = domain.newReliableQueuePair(dispatcher)) {
            pair.connect(pair.endpoint());
            region.segment().setString(0, "hello");
            pair.write(region.slice(0, 64), region.slice(64, 64).remote()).await(TIMEOUT);
            if (connections != null) {
                Target.check(region.segment().getString(64).equals("hello"), "wrong bytes");
                verifyConnections(connections, domain);
            }
        }
    }

    private void verifyConnections(ConnectionManager manager, ProtectionDomain domain)
            throws Exception {
        try (var listener = manager.listen(new InetSocketAddress(address, 0));
                var queue = domain.device().newCompletionQueue(64)) {
            var options = ConnectionOptions.of(reliable(queue));
            CompletableFuture<?> accepted = listener.acceptAsync(domain, options, TIMEOUT);
            try (var connection =
                            manager.connect(listener.localAddress(), domain, options, TIMEOUT);
                    var _ = (AutoCloseable) accepted.get(20, SECONDS)) {
                connection.disconnect(TIMEOUT);
            }
        }
    }
}
