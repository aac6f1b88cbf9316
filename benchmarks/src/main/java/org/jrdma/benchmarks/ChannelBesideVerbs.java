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
 * What a channel costs: the same messages over an {@link RdmaChannel} and over a queue pair that is
 * posted to and polled by hand, both connected over the same device, in turns. Each end is a thread
 * of this process.
 *
 * <p>Arguments: none for the software fabric, or the address of an RDMA device.
 */
public final class ChannelBesideVerbs {

    private static final int TURNS = 100;
    private static final int TURNS_TO_WARM_UP = 60;
    private static final int SMALL_BYTES = 64;
    private static final int LARGE_BYTES = 1 << 20;
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final ThreadMXBean THREAD = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private ChannelBesideVerbs() {}

    /** Measures, and prints a table. */
    public static void main(String... arguments) throws Exception {
        if (arguments.length > 0) {
            var address = InetAddress.getByName(arguments[0]);
            compare(Verbs.system(), ConnectionManager.system(), address);
        } else {
            var software = SoftRoce.onLoopback(1);
            var verbs = Verbs.from(software);
            try (var device = verbs.open("soft0")) { // which gives it its address
                var address = device.gids(1).getFirst().gid().ipv4().orElseThrow();
                compare(verbs, ConnectionManager.from(software), address);
            }
        }
    }

    private static void compare(Verbs verbs, ConnectionManager connections, InetAddress address)
            throws Exception {
        try (var listener = connections.listen(new InetSocketAddress(address, 0));
                var route = connections.resolve(listener.localAddress(), SOON);
                var device = verbs.open(route.deviceName());
                var domain = device.newProtectionDomain()) {
            var place = new Place(connections, listener, domain);
            System.out.println(
                    "| | channel | verbs | channel to verbs | bound | channel, B/op | verbs, B/op |");
            System.out.println("|---|---|---|---|---|---|---|");
            var trips = compare(place, new Game(SMALL_BYTES, 64, 200, 1));
            print(
                    "64 bytes there and back, us",
                    trips.channelNanos / 1e3,
                    trips.verbsNanos / 1e3,
                    trips.verbsNanos / trips.channelNanos,
                    trips);
            var stream = compare(place, new Game(LARGE_BYTES, 8, 1, 16));
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
                "| %s | %,.1f | %,.1f | %.2f | at least 0.85 | %.2f | %.2f |%n",
                what,
                channel,
                verbs,
                ratio,
                result.allocated.channel,
                result.allocated.verbs);
    }

    /** Where both ends are. */
    private record Place(
            ConnectionManager connections, Listener listener, ProtectionDomain domain) {}

    /**
     * What is played: so many messages, then one in answer, and that again.
     *
     * @param window how many messages can be under way
     */
    private record Game(int bytes, int window, int rounds, int messages) {

        RdmaChannelOptions options() {
            return new RdmaChannelOptions().messageBytes(bytes).window(window);
        }

        int operations() {
            return rounds * messages;
        }
    }

    /** Of one message. */
    private record Result(double channelNanos, double verbsNanos, Allocated allocated) {}

    /** In all turns that count, by both ends. */
    private static final class Allocated {

        private double channel;
        private double verbs;
        private long before;

        void begin() {
            before = THREAD.getCurrentThreadAllocatedBytes();
        }

        long end() {
            return THREAD.getCurrentThreadAllocatedBytes() - before;
        }

        void add(long ofChannel, long ofVerbs) {
            channel += ofChannel;
            verbs += ofVerbs;
        }

        /** With what the peer has, of one operation. */
        void add(Allocated peer, int operations) {
            channel = (channel + peer.channel) / operations / TURNS;
            verbs = (verbs + peer.verbs) / operations / TURNS;
        }
    }

    /** One end of either kind. */
    private interface End extends AutoCloseable {

        void send() throws IOException;

        void receive() throws IOException;

        @Override
        void close();
    }

    private static Result compare(Place place, Game game) throws Exception {
        var peer = new FutureTask<>(() -> answer(place, game));
        Thread.ofPlatform().daemon().start(peer);
        var channelNanos = new double[TURNS];
        var verbsNanos = new double[TURNS];
        var allocated = new Allocated();
        try (var channel = ChannelEnd.connect(place, game);
                var verbs = VerbsEnd.connect(place, game)) {
            for (var turn = -TURNS_TO_WARM_UP; turn < TURNS; turn++) {
                allocated.begin();
                var nanos = play(channel, game);
                var bytes = allocated.end();
                allocated.begin();
                var nanosBeside = play(verbs, game);
                if (turn >= 0) {
                    allocated.add(bytes, allocated.end());
                    channelNanos[turn] = nanos;
                    verbsNanos[turn] = nanosBeside;
                }
            }
            allocated.add(peer.get(), game.operations());
        } catch (IOException e) {
            tellOf(peer, e);
            throw e;
        }
        return new Result(Median.of(channelNanos), Median.of(verbsNanos), allocated);
    }

    /** What the peer has failed in is why this side has. */
    private static void tellOf(FutureTask<?> peer, IOException failure)
            throws InterruptedException {
        try {
            if (peer.isDone()) {
                peer.get();
            }
        } catch (ExecutionException e) {
            failure.addSuppressed(e);
        }
    }

    private static double play(End end, Game game) throws IOException {
        var start = System.nanoTime();
        for (var round = 0; round < game.rounds; round++) {
            for (var message = 0; message < game.messages; message++) {
                end.send();
            }
            end.receive();
        }
        return (double) (System.nanoTime() - start) / game.operations();
    }

    /** The peer. */
    private static Allocated answer(Place place, Game game) throws IOException {
        var allocated = new Allocated();
        try (var channel = ChannelEnd.accept(place, game);
                var verbs = VerbsEnd.accept(place, game)) {
            for (var turn = -TURNS_TO_WARM_UP; turn < TURNS; turn++) {
                allocated.begin();
                playBack(channel, game);
                var bytes = allocated.end();
                allocated.begin();
                playBack(verbs, game);
                if (turn >= 0) {
                    allocated.add(bytes, allocated.end());
                }
            }
            verbs.finish();
        }
        return allocated;
    }

    private static void playBack(End end, Game game) throws IOException {
        for (var round = 0; round < game.rounds; round++) {
            for (var message = 0; message < game.messages; message++) {
                end.receive();
            }
            end.send();
        }
    }

    /**
     * In the guest the threads of a process never run at the same time, however many processors
     * there are: without this the peer's turn came at the end of a time slice.
     */
    @SuppressWarnings("ThreadPriorityCheck")
    private static void pause() {
        Thread.yield();
    }

    /** As a program uses a channel. */
    private static final class ChannelEnd implements End, RdmaChannel.Handler {

        private final RdmaChannel channel;
        private final int bytes;
        private int waiting;

        private ChannelEnd(RdmaChannel channel, Game game) {
            this.channel = channel;
            this.bytes = game.bytes;
        }

        static ChannelEnd connect(Place place, Game game) throws IOException {
            var channel =
                    RdmaChannel.connect(
                            place.connections,
                            place.listener.localAddress(),
                            place.domain,
                            game.options(),
                            SOON);
            return new ChannelEnd(channel, game);
        }

        static ChannelEnd accept(Place place, Game game) throws IOException {
            var request = place.listener.next(SOON);
            return new ChannelEnd(
                    RdmaChannel.accept(request, place.domain, game.options(), SOON), game);
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
     * As a program that knows what will come does the same by hand: it posts receives for all of
     * that, so it needs no credits, and puts each message where the one before it is not.
     */
    private static final class VerbsEnd implements End {

        /** The number of a send; a receive has its place. */
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

        /** Connects or accepts. */
        private interface Meeting {
            Connection<PolledQueuePair> with(ConnectionOptions<PolledQueuePair> options)
                    throws IOException;
        }

        private VerbsEnd(Place place, Game game, Meeting meeting) throws IOException {
            bytes = game.bytes;
            window = game.window;
            var receives = Math.max(window, game.messages) + 2;
            var arena = place.domain.newArena(LOCAL_WRITE);
            outgoing = arena.region((long) window * bytes);
            incoming = arena.region((long) (window + 2) * bytes);
            var completions = place.domain.device().newCompletionQueue(receives + window + 1);
            cursor = completions.newCursor(64);
            var inline = bytes <= SMALL_BYTES;
            connection =
                    meeting.with(
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

        static VerbsEnd connect(Place place, Game game) throws IOException {
            return new VerbsEnd(
                    place,
                    game,
                    options ->
                            place.connections.connect(
                                    place.listener.localAddress(), place.domain, options, SOON));
        }

        static VerbsEnd accept(Place place, Game game) throws IOException {
            return new VerbsEnd(
                    place, game, options -> place.listener.accept(place.domain, options, SOON));
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

        /** Waits until the peer has all, which a close would take away. */
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
