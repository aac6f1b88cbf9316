package org.jrdma.wire;

import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.MEMORY_WINDOW_BIND;
import static org.jrdma.verbs.model.Access.REMOTE_ATOMIC;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jrdma.soft.roce.SoftDevice;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.soft.roce.model.TracedPacket;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.StaticRate;

/**
 * A reliable queue pair at one side of the wire, with its own device, memory and completion queue.
 * Not safe for use by several threads.
 */
final class QueuePairFixture implements AutoCloseable {

    /**
     * The first packet sequence number of both sides. The 24-bit numbers wrap around after 16
     * packets.
     */
    static final int FIRST_SEQUENCE = 0xfffff0;

    static final int DEPTH = 128;
    static final int RECEIVES = 512;

    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Duration ACKNOWLEDGE_TIMEOUT = Duration.ofMillis(67);
    private static final int TRACED = 60;

    /** The library, which stays open as long as the JVM runs. */
    private static final SoftRoce SOFTWARE =
            SoftRoce.at(Family.IPV4.softwareAddress(), Family.IPV6.softwareAddress());

    private final Deque<TracedPacket> trace = new ArrayDeque<>();
    private final Device device;
    private final ProtectionDomain domain;
    private final RegisteredArena arena;
    private final MemoryRegion memory;
    private final CompletionQueue completions;
    private final CompletionCursor cursor;
    private final PolledQueuePair queuePair;

    /** Creates a side on the software fabric. */
    static QueuePairFixture software(Family family, int bytes) throws IOException {
        return software(family, bytes, options -> options);
    }

    /** Creates a side on the software fabric with changed options of the queue pair. */
    static QueuePairFixture software(
            Family family, int bytes, UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws IOException {
        var side = new QueuePairFixture(openSoftware(family), bytes, change);
        softDevice(family).listen(side::record);
        return side;
    }

    /** Opens the device of the software fabric that has the address of an IP version. */
    static Device openSoftware(Family family) throws IOException {
        return Verbs.from(SOFTWARE).open(softDevice(family).name());
    }

    /** Creates a side on rxe1 with the system's libibverbs. */
    static QueuePairFixture kernel(Family family, int bytes) throws IOException {
        return kernel(family, bytes, options -> options);
    }

    /** Creates a side on rxe1 with changed options of the queue pair. */
    static QueuePairFixture kernel(
            Family family, int bytes, UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws IOException {
        var device = Verbs.system().open(VethLinkToKernel.KERNEL_DEVICE);
        return new QueuePairFixture(
                device, bytes, options -> change.apply(options.gidIndex(family.kernelGid())));
    }

    /** Returns the connection manager of the software fabric. */
    static ConnectionManager connections() throws IOException {
        return ConnectionManager.from(SOFTWARE);
    }

    static SoftDevice softDevice(Family family) {
        return SOFTWARE.devices().get(family == Family.IPV4 ? 0 : 1);
    }

    private QueuePairFixture(
            Device device, int bytes, UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws IOException {
        this.device = device;
        domain = device.newProtectionDomain();
        arena =
                domain.newArena(
                        LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, MEMORY_WINDOW_BIND);
        memory = arena.region(bytes);
        completions =
                device.newCompletionQueue(CompletionQueueOptions.capacity(DEPTH + RECEIVES + 1));
        cursor = completions.newCursor(64);
        var options = QueuePairOptions.reliable(completions).sends(DEPTH).receives(RECEIVES);
        queuePair = domain.newQueuePair(change.apply(options));
    }

    private synchronized void record(TracedPacket packet) {
        if (trace.size() == TRACED) {
            trace.removeFirst();
        }
        trace.addLast(packet);
    }

    /** Returns the last packets of the software fabric as text. */
    synchronized String trace() {
        var text = new StringBuilder();
        trace.forEach(packet -> text.append(packet.time()).append(' ').append(packet).append('\n'));
        return text.toString();
    }

    ProtectionDomain domain() {
        return domain;
    }

    PolledQueuePair queuePair() {
        return queuePair;
    }

    MemoryRegion memory() {
        return memory;
    }

    CompletionCursor cursor() {
        return cursor;
    }

    /** Returns the endpoint of this side with its first packet sequence number, for the peer. */
    Endpoint endpoint() {
        var endpoint = queuePair.endpoint();
        return new Endpoint(
                endpoint.lid(), endpoint.queuePairNumber(), FIRST_SEQUENCE, endpoint.gid());
    }

    void connect(Endpoint peer, Mtu mtu) throws IOException {
        connect(peer, mtu, 16, 16);
    }

    void connect(Endpoint peer, Mtu mtu, int maxReads, int maxDestinationReads) throws IOException {
        connect(peer, mtu, maxReads, maxDestinationReads, ACKNOWLEDGE_TIMEOUT);
    }

    void connect(
            Endpoint peer,
            Mtu mtu,
            int maxReads,
            int maxDestinationReads,
            Duration acknowledgeTimeout)
            throws IOException {
        var gid = queuePair.localGid().orElseThrow();
        var route = new AddressVector.GlobalRoute(peer.gid(), gid.index(), 0, 64, 0);
        queuePair.modify(
                QueuePairChange.to(QueuePairState.INIT)
                        .partitionKeyIndex(0)
                        .port(1)
                        .access(LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC));
        queuePair.modify(
                QueuePairChange.to(QueuePairState.READY_TO_RECEIVE)
                        .address(
                                new AddressVector(
                                        1, 0, 0, 0, StaticRate.UNLIMITED, Optional.of(route)))
                        .pathMtu(mtu)
                        .destinationNumber(peer.queuePairNumber())
                        .receiveSequence(peer.packetSequence())
                        .maxDestinationReads(maxDestinationReads)
                        .receiverNotReadyTimer(Duration.ofNanos(640_000)));
        queuePair.modify(
                QueuePairChange.to(QueuePairState.READY_TO_SEND)
                        .acknowledgeTimeout(acknowledgeTimeout)
                        .retries(7)
                        .receiverNotReadyRetries(7)
                        .sendSequence(FIRST_SEQUENCE)
                        .maxReads(maxReads));
    }

    /** Posts a request, for which the queue must have a free slot. */
    void post(PreparedRequest<?> request) throws IOException {
        if (!request.tryPost()) {
            throw new IOException("The queue has no free slot for the request.");
        }
    }

    /**
     * Posts a request a number of times, whenever the queue has a free slot, and waits for all
     * completions.
     */
    void postAll(PreparedRequest<?> request, int times) throws IOException {
        var posted = 0;
        var completed = 0;
        while (completed < times) {
            while (posted < times && request.tryPost()) {
                posted++;
            }
            completed += awaitSome();
        }
    }

    /** Waits until a number of requests have completed. */
    void awaitCompletions(int count) throws IOException {
        for (var completed = 0; completed < count; ) {
            completed += awaitSome();
        }
    }

    /** Waits for completions, and returns their number. */
    private int awaitSome() throws IOException {
        awaitAny();
        var count = 0;
        while (cursor.next()) {
            check();
            count++;
        }
        return count;
    }

    /** Waits until the cursor has completions. */
    void awaitAny() throws IOException {
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (cursor.poll() == 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new IOException("No request completed within " + TIMEOUT + ".\n" + trace());
            }
        }
    }

    /** Throws an exception if the completion at the cursor is not a success. */
    void check() throws IOException {
        if (!cursor.isSuccess()) {
            throw new IOException(
                    "Request %d: %s\n%s".formatted(cursor.id(), cursor.status(), trace()));
        }
    }

    @Override
    public void close() throws IOException {
        cursor.close();
        device.close();
    }
}
