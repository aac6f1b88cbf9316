package org.jrdma.soft.roce.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.MalformedPacketException;
import org.jspecify.annotations.Nullable;

/**
 * The connection managers of two machines, a simulated network that can lose or duplicate messages,
 * and a simulated clock.
 */
final class SimulatedNetwork {

    static final int MTU_1024 = 3;
    static final long SERVICE = 0x0106_0000L + 7471;

    final Machine here = new Machine(RoceGid.ipv4(0x0a00_0001), 1);
    final Machine there = new Machine(RoceGid.ipv4(0x0a00_0002), 2);

    /** All messages that were sent, including those that were lost. */
    final List<Sent> sent = new ArrayList<>();

    private final ArrayDeque<Sent> inFlight = new ArrayDeque<>();
    private Predicate<Sent> lost = _ -> false;
    private Predicate<Sent> duplicated = _ -> false;
    private long now;

    /**
     * Returns true if the next operation that may allocate memory must throw an {@link
     * OutOfMemoryError}.
     */
    BooleanSupplier isMemoryExhausted = () -> false;

    /** A message that was sent. */
    record Sent(RoceGid from, RoceGid to, MemorySegment datagram) {

        String name() {
            return Message.name(datagram);
        }

        Message message() {
            try {
                return Message.decode(datagram);
            } catch (MalformedPacketException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** A machine with a connection manager. */
    final class Machine implements ConnectionManagerDeviceServices {

        final RoceGid address;
        final ConnectionManager manager;

        /** True if the remote queue pairs of this machine's connections exist. */
        boolean remoteQueuePairsExist = true;

        int probes;
        private long packetsReceived;

        Machine(RoceGid address, long seed) {
            this.address = address;
            this.manager = new ConnectionManager(address, seed, MTU_1024, this, new Random(seed));
        }

        @Override
        public long now() {
            return now;
        }

        @Override
        public void send(RoceGid remote, MemorySegment message) {
            failIfMemoryIsExhausted();
            var one = new Sent(address, remote, message);
            sent.add(one);
            if (lost.test(one)) {
                return;
            }
            inFlight.add(one);
            if (duplicated.test(one)) {
                inFlight.add(one);
            }
        }

        @Override
        public long packetsReceived(int queuePair) {
            return packetsReceived;
        }

        @Override
        public void probe(int queuePair) {
            probes++;
            if (remoteQueuePairsExist) {
                packetsReceived++;
            }
        }

        /** Requests a connection from another machine. */
        Peer connect(Machine other, int queuePair, String data) {
            var peer = new Peer();
            peer.connection =
                    manager.connect(other.address, options(other, queuePair, data), peer::add);
            return peer;
        }

        private ConnectOptions options(Machine other, int queuePair, String data) {
            return new ConnectOptions(
                    SERVICE,
                    ConnectRequest.RELIABLE,
                    new EndpointParameters(queuePair, 0, 4, 3, true, false, 6),
                    5,
                    0xffff,
                    0x20,
                    17,
                    new PrivateDataHeader(4711, address, other.address).followedBy(bytes(data)));
        }

        /**
         * Listens for connect requests.
         *
         * @param backlog the number of requests that the listener accepts. It drops further
         *     requests
         */
        Listener listen(int backlog) {
            var listener = new Listener(backlog);
            manager.listen(SERVICE, listener);
            return listener;
        }
    }

    /** The program at one end of a connection, with the events that it has received. */
    final class Peer {
        final List<ConnectionEvent> events = new ArrayList<>();
        @Nullable Connection connection;
        @Nullable PrivateDataHeader header;
        @Nullable String data;

        private void add(ConnectionEvent event) {
            failIfMemoryIsExhausted();
            events.add(event);
        }

        Connection connection() {
            if (connection == null) {
                throw new AssertionError("the connection was not requested");
            }
            return connection;
        }

        boolean reply(int queuePair, String text) {
            return connection()
                    .reply(new EndpointParameters(queuePair, 0, 2, 1, true, true, 7), bytes(text));
        }

        /** Returns the class names of the events, in the order of their arrival. */
        List<String> eventNames() {
            return events.stream().map(event -> event.getClass().getSimpleName()).toList();
        }
    }

    /** A listener with the requests that it has received. */
    final class Listener implements ServiceListener {
        final List<Peer> requests = new ArrayList<>();
        final List<SidrServer> servers = new ArrayList<>();
        int backlog;

        Listener(int backlog) {
            this.backlog = backlog;
        }

        @Override
        public int transport() {
            return ConnectRequest.RELIABLE;
        }

        @Override
        public ConnectionEvent.@Nullable Receiver requested(
                Connection connection, PrivateDataHeader header, MemorySegment data) {
            if (backlog == 0) {
                return null;
            }
            failIfMemoryIsExhausted();
            backlog--;
            var peer = new Peer();
            peer.connection = connection;
            peer.header = header;
            peer.data = text(data);
            requests.add(peer);
            return peer::add;
        }

        @Override
        public boolean asked(SidrServer server, PrivateDataHeader header, MemorySegment data) {
            return backlog-- > 0 && servers.add(server);
        }
    }

    private void failIfMemoryIsExhausted() {
        if (isMemoryExhausted.getAsBoolean()) {
            throw new OutOfMemoryError("injected");
        }
    }

    /** Runs a step as the engine does, which continues after an exception. */
    private static void survive(Runnable step) {
        try {
            step.run();
        } catch (OutOfMemoryError e) {
            if (!"injected".equals(e.getMessage())) {
                throw e;
            }
        }
    }

    /** Loses all messages from now on that match a condition. */
    void lose(Predicate<Sent> condition) {
        lost = condition;
    }

    /** Duplicates all messages from now on that match a condition. */
    void duplicate(Predicate<Sent> condition) {
        duplicated = condition;
    }

    /** Returns a condition that matches only the first message with a name. */
    static Predicate<Sent> first(String name) {
        var seen = new boolean[1];
        return message -> {
            var isFirst = !seen[0] && message.name().equals(name);
            seen[0] |= isFirst;
            return isFirst;
        };
    }

    /** Delivers all messages in flight, including those that are sent in response. */
    void deliver() {
        while (!inFlight.isEmpty()) {
            var next = inFlight.remove();
            var target = next.to().equals(here.address) ? here : there;
            survive(() -> target.manager.received(next.from(), next.datagram()));
        }
    }

    /**
     * Advances the clock. Handles all timers that expire and all messages that are sent meanwhile.
     */
    void advance(long millis) {
        var end = now + millis * 1_000_000;
        deliver();
        for (var next = next(); next <= end; next = next()) {
            now = Math.max(now, next);
            survive(() -> here.manager.expire(now));
            survive(() -> there.manager.expire(now));
            deliver();
        }
        now = end;
    }

    /** Advances the clock until a condition holds. Fails if that takes more than ten seconds. */
    void advanceUntil(BooleanSupplier condition) {
        for (var millis = 0; millis < 10_000 && !condition.getAsBoolean(); millis++) {
            advance(1);
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    private long next() {
        return Math.min(here.manager.nextDeadline(), there.manager.nextDeadline());
    }

    /** Returns the number of messages with a name that were sent. */
    long count(String name) {
        return sent.stream().filter(message -> message.name().equals(name)).count();
    }

    static MemorySegment bytes(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the text in private data, without the zeros after it. */
    static String text(MemorySegment data) {
        var bytes = data.toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.UTF_8).replace("\0", "");
    }
}
