package org.jrdma.benchmarks;

import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedSend;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.cm.RdmaChannelOptions;
import org.jrdma.verbs.memory.MemoryRegion;

/**
 * Compares an {@link RdmaChannel} with a queue pair that the program posts to and polls itself. The
 * channel and the queue pair use the same device and alternately send the same messages. Each end
 * of a connection is a thread of this process.
 *
 * <p>Arguments: none for the software fabric, or the address of an RDMA device.
 */
public final class RdmaChannelVerbsComparison {

    private static final int TURNS = 100;
    private static final int WARM_UP_TURNS = 60;
    private static final int SMALL_BYTES = 64;
    private static final int LARGE_BYTES = 1 << 20;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final ThreadMXBean THREAD = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private RdmaChannelVerbsComparison() {}

    /** Prints a table. */
    public static void main(String... arguments) throws Exception {
        if (arguments.length > 0) {
            var address = InetAddress.getByName(arguments[0]);
            compare(Verbs.system(), ConnectionManager.system(), address);
        } else {
            var software = SoftRoce.onLoopback(1);
            var verbs = Verbs.from(software);
            try (var device = verbs.open("soft0")) { // Opening the device determines its address.
                var address = device.gids(1).getFirst().gid().ipv4().orElseThrow();
                compare(verbs, ConnectionManager.from(software), address);
            }
        }
    }

    private static void compare(Verbs verbs, ConnectionManager connections, InetAddress address)
            throws Exception {
        try (var listener = connections.listen(new InetSocketAddress(address, 0));
                var route = connections.resolve(listener.localAddress(), TIMEOUT);
                var device = verbs.open(route.deviceName());
                var domain = device.newProtectionDomain()) {
            var endpoints = new Endpoints(connections, listener, domain);
            System.out.println(
                    "| workload | channel | verbs | channel to verbs | bound | verbs, B/op | channel, B/op | bound |");
            System.out.println("|---|---|---|---|---|---|---|---|");
            var trips = compare(endpoints, new Workload(SMALL_BYTES, 64, 200, 1));
            print(
                    "round trip of 64 bytes, us",
                    trips.channelNanos / 1e3,
                    trips.verbsNanos / 1e3,
                    trips.verbsNanos / trips.channelNanos,
                    trips);
            var stream = compare(endpoints, new Workload(LARGE_BYTES, 8, 1, 16));
            print(
                    "messages of 1 MiB, MB/s",
                    LARGE_BYTES / 1e6 / (stream.channelNanos / 1e9),
                    LARGE_BYTES / 1e6 / (stream.verbsNanos / 1e9),
                    stream.verbsNanos / stream.channelNanos,
                    stream);
        }
    }

    private static void print(
            String what, double channel, double verbs, double ratio, Result result) {
        System.out.printf(
                Locale.ROOT,
                "| %s | %,.1f | %,.1f | %.2f | at least 0.85 | %.2f | %.2f | at most 1 |%n",
                what,
                channel,
                verbs,
                ratio,
                result.verbsBytes,
                result.channelBytes);
    }

    /** The objects that both ends of a connection use. */
    private record Endpoints(
            ConnectionManager connections, Listener listener, ProtectionDomain domain) {}

    /**
     * The messages of a measurement: a number of rounds, each of which consists of messages in one
     * direction, followed by one message in the other direction.
     *
     * @param window the maximum number of outstanding messages
     */
    private record Workload(int bytes, int window, int rounds, int messages) {

        RdmaChannelOptions options() {
            return RdmaChannelOptions.DEFAULT.messageBytes(bytes).window(window);
        }

        int operations() {
            return rounds * messages;
        }
    }

    /** The median times of one message, and the allocated bytes. */
    private record Result(
            double channelNanos, double verbsNanos, double channelBytes, double verbsBytes) {}

    /**
     * The numbers of bytes that this thread allocated for the channel and for plain verbs in each
     * turn. The medians count, because other load on the machine lets single turns allocate more.
     */
    private static final class Allocated {

        private final double[] channel = new double[TURNS];
        private final double[] verbs = new double[TURNS];
        private long before;

        void begin() {
            before = THREAD.getCurrentThreadAllocatedBytes();
        }

        long end() {
            return THREAD.getCurrentThreadAllocatedBytes() - before;
        }

        void add(int turn, long ofChannel, long ofVerbs) {
            channel[turn] = ofChannel;
            verbs[turn] = ofVerbs;
        }
    }

    /** One end of a connection, which uses a channel or a plain queue pair. */
    private interface End extends AutoCloseable {

        void send() throws IOException;

        void receive() throws IOException;

        @Override
        void close();
    }

    private static Result compare(Endpoints endpoints, Workload workload) throws Exception {
        var peer = new FutureTask<>(() -> answer(endpoints, workload));
        Thread.ofPlatform().daemon().start(peer);
        var channelNanos = new double[TURNS];
        var verbsNanos = new double[TURNS];
        var allocated = new Allocated();
        try (var channel = ChannelEnd.connect(endpoints, workload);
                var verbs = VerbsEnd.connect(endpoints, workload)) {
            for (var turn = -WARM_UP_TURNS; turn < TURNS; turn++) {
                allocated.begin();
                var nanos = run(channel, workload);
                var bytes = allocated.end();
                allocated.begin();
                var baselineNanos = run(verbs, workload);
                if (turn >= 0) {
                    allocated.add(turn, bytes, allocated.end());
                    channelNanos[turn] = nanos;
                    verbsNanos[turn] = baselineNanos;
                }
            }
            var ofPeer = peer.get();
            var operations = workload.operations();
            return new Result(
                    Median.of(channelNanos),
                    Median.of(verbsNanos),
                    (Median.of(allocated.channel) + Median.of(ofPeer.channel)) / operations,
                    (Median.of(allocated.verbs) + Median.of(ofPeer.verbs)) / operations);
        } catch (IOException e) {
            addPeerFailure(peer, e);
            throw e;
        }
    }

    /**
     * Adds the failure of the responding thread, which is probably the cause, as a suppressed
     * exception.
     */
    private static void addPeerFailure(FutureTask<?> peer, IOException failure)
            throws InterruptedException {
        try {
            if (peer.isDone()) {
                peer.get();
            }
        } catch (ExecutionException e) {
            failure.addSuppressed(e);
        }
    }

    private static double run(End end, Workload workload) throws IOException {
        var start = System.nanoTime();
        for (var round = 0; round < workload.rounds; round++) {
            for (var message = 0; message < workload.messages; message++) {
                end.send();
            }
            end.receive();
        }
        return (double) (System.nanoTime() - start) / workload.operations();
    }

    private static Allocated answer(Endpoints endpoints, Workload workload) throws IOException {
        var allocated = new Allocated();
        try (var channel = ChannelEnd.accept(endpoints, workload);
                var verbs = VerbsEnd.accept(endpoints, workload)) {
            for (var turn = -WARM_UP_TURNS; turn < TURNS; turn++) {
                allocated.begin();
                respond(channel, workload);
                var bytes = allocated.end();
                allocated.begin();
                respond(verbs, workload);
                if (turn >= 0) {
                    allocated.add(turn, bytes, allocated.end());
                }
            }
            verbs.finish();
        }
        return allocated;
    }

    private static void respond(End end, Workload workload) throws IOException {
        for (var round = 0; round < workload.rounds; round++) {
            for (var message = 0; message < workload.messages; message++) {
                end.receive();
            }
            end.send();
        }
    }

    /**
     * Yields the processor, because the threads of both ends share one processor in a guest with
     * one processor. Without the yield, the peer would run only after the time slice of this thread
     * ends.
     */
    @SuppressWarnings("ThreadPriorityCheck")
    private static void pause() {
        Thread.yield();
    }

    private static final class ChannelEnd implements End, RdmaChannel.Handler {

        private final RdmaChannel channel;
        private final int bytes;
        private int waiting;

        private ChannelEnd(RdmaChannel channel, Workload workload) {
            this.channel = channel;
            this.bytes = workload.bytes;
        }

        static ChannelEnd connect(Endpoints endpoints, Workload workload) throws IOException {
            var channel =
                    endpoints.connections.connectChannel(
                            endpoints.listener.localAddress(),
                            endpoints.domain,
                            workload.options(),
                            TIMEOUT);
            return new ChannelEnd(channel, workload);
        }

        static ChannelEnd accept(Endpoints endpoints, Workload workload) throws IOException {
            var request = endpoints.listener.next(TIMEOUT);
            return new ChannelEnd(
                    request.acceptChannel(endpoints.domain, workload.options(), TIMEOUT), workload);
        }

        @Override
        public void message(MemorySegment buffer, long length) {
            waiting++;
        }

        @Override
        public void send() throws IOException {
            while (channel.tryClaim() == null) {
                poll();
            }
            channel.send(bytes);
        }

        @Override
        public void receive() throws IOException {
            while (waiting == 0) {
                poll();
            }
            waiting--;
        }

        private void poll() throws IOException {
            if (channel.poll(this) == 0) {
                pause();
            }
        }

        @Override
        public void close() {
            channel.close();
        }
    }

    /**
     * A queue pair without flow control: the program knows the number of messages in advance, so it
     * posts a receive for each message and needs no credits.
     */
    private static final class VerbsEnd implements End {

        /** The request ID of all sends. */
        private static final long SEND = -1;

        private final int bytes;
        private final Connection<PolledQueuePair> connection;
        private final MemoryRegion outgoing;
        private final MemoryRegion incoming;
        private final CompletionCursor cursor;
        private final PreparedSend send;
        private final PreparedReceive receive;
        private final int window;
        private long posted;
        private long done;
        private long received;
        private int waiting;

        /** Connects to the peer, or accepts its connect request. */
        private interface Connector {
            Connection<PolledQueuePair> connect(ConnectionOptions<PolledQueuePair> options)
                    throws IOException;
        }

        private VerbsEnd(Endpoints endpoints, Workload workload, Connector connector)
                throws IOException {
            bytes = workload.bytes;
            window = workload.window;
            var receives = Math.max(window, workload.messages) + 2;
            var arena = endpoints.domain.newArena(LOCAL_WRITE);
            outgoing = arena.region((long) window * bytes);
            incoming = arena.region((long) (window + 2) * bytes);
            var completions = endpoints.domain.device().newCompletionQueue(receives + window + 1);
            cursor = completions.newCursor(64);
            var inline = bytes <= SMALL_BYTES;
            connection =
                    connector.connect(
                            ConnectionOptions.of(
                                            QueuePairOptions.reliable(completions)
                                                    .sends(window)
                                                    .receives(receives)
                                                    .inlineBytes(inline ? bytes : 0))
                                    .prepared(queuePair -> {
                                        var first = queuePair.prepareReceive(incoming.slice());
                                        for (var count = 0; count < receives; count++) {
                                            post(first);
                                        }
                                    }));
            receive = connection.queuePair().prepareReceive(incoming.slice());
            send =
                    connection
                            .queuePair()
                            .prepareSend(outgoing.slice(0, bytes))
                            .inline(inline)
                            .id(SEND);
        }

        static VerbsEnd connect(Endpoints endpoints, Workload workload) throws IOException {
            return new VerbsEnd(
                    endpoints,
                    workload,
                    options ->
                            endpoints.connections.connect(
                                    endpoints.listener.localAddress(),
                                    endpoints.domain,
                                    options,
                                    TIMEOUT));
        }

        static VerbsEnd accept(Endpoints endpoints, Workload workload) throws IOException {
            return new VerbsEnd(
                    endpoints,
                    workload,
                    options -> endpoints.listener.accept(endpoints.domain, options, TIMEOUT));
        }

        private void post(PreparedReceive receive) throws IOException {
            var offset = received++ % (window + 2) * bytes;
            receive.local(incoming, offset, bytes).tryPost();
        }

        @Override
        public void send() throws IOException {
            send.local(outgoing, posted % window * bytes, bytes);
            while (!send.tryPost()) {
                poll();
            }
            posted++;
        }

        @Override
        public void receive() throws IOException {
            while (waiting == 0) {
                poll();
            }
            waiting--;
        }

        private void poll() throws IOException {
            if (cursor.poll() == 0) {
                pause();
            }
            while (cursor.next()) {
                if (!cursor.isSuccess()) {
                    throw new IOException("A request failed: " + cursor.completion());
                }
                if (cursor.id() == SEND) {
                    done++;
                } else {
                    waiting++;
                    post(receive);
                }
            }
        }

        /**
         * Waits until the peer has received all messages, because close() discards messages that
         * the peer has not received.
         */
        void finish() throws IOException {
            while (done < posted) {
                poll();
            }
        }

        @Override
        public void close() {
            connection.close();
            cursor.close();
            outgoing.close();
            incoming.close();
        }
    }
}
