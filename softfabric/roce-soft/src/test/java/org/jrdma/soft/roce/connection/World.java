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
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.packet.MalformedPacketException;
import org.jspecify.annotations.Nullable;

/**
 * The connection managers of two machines, a network whose messages a test can drop or duplicate,
 * and a simulated clock.
 */
final class World {

    static final int MTU_1024 = 3;
    static final long SERVICE = 0x0106_0000L + 7471;

    final Machine here = new Machine(Address.ipv4(0x0a00_0001), 1);
    final Machine there = new Machine(Address.ipv4(0x0a00_0002), 2);

    /** All messages that were sent, including lost ones. */
    final List<Sent> sent = new ArrayList<>();

    private final ArrayDeque<Sent> inFlight = new ArrayDeque<>();
    private Predicate<Sent> lost = _ -> false;
    private Predicate<Sent> doubled = _ -> false;
    private long now;

    /** A message in flight. */
    record Sent(Address from, Address to, MemorySegment datagram) {

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

    /** One machine. */
    final class Machine implements ManagementTransport {

        final Address address;
        final ConnectionManager engine;

        Machine(Address address, long seed) {
            this.address = address;
            this.engine = new ConnectionManager(address, seed, MTU_1024, this, new Random(seed));
        }

        @Override
        public long now() {
            return now;
        }

        @Override
        public void send(Address remote, MemorySegment message) {
            var one = new Sent(address, remote, message);
            sent.add(one);
            if (lost.test(one)) {
                return;
            }
            inFlight.add(one);
            if (doubled.test(one)) {
                inFlight.add(one);
            }
        }

        /** Requests a connection from the other side. */
        Party connect(Machine other, int queuePair, String data) {
            var party = new Party();
            party.connection =
                    engine.connect(
                            other.address, options(other, queuePair, data), party.events::add);
            return party;
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

        /** Listens with a backlog. */
        Ear listen(int room) {
            var ear = new Ear(room);
            engine.listen(SERVICE, ear);
            return ear;
        }
    }

    /** One side of a connection, with the events that it received. */
    static final class Party {
        final List<ConnectionEvent> events = new ArrayList<>();
        @Nullable Connection connection;
        @Nullable PrivateDataHeader header;
        @Nullable String data;

        Connection connection() {
            if (connection == null) {
                throw new AssertionError("there is none");
            }
            return connection;
        }

        boolean reply(int queuePair, String text) {
            return connection()
                    .reply(new EndpointParameters(queuePair, 0, 2, 1, true, true, 7), bytes(text));
        }

        List<String> told() {
            return events.stream().map(event -> event.getClass().getSimpleName()).toList();
        }
    }

    /** A listening service, with the connections requested from it. */
    static final class Ear implements ServiceListener {
        final List<Party> requests = new ArrayList<>();
        final List<SidrServer> servers = new ArrayList<>();
        int room;

        Ear(int room) {
            this.room = room;
        }

        @Override
        public int transport() {
            return ConnectRequest.RELIABLE;
        }

        @Override
        public ConnectionEvent.@Nullable Receiver requested(
                Connection connection, PrivateDataHeader header, MemorySegment data) {
            if (room == 0) {
                return null;
            }
            room--;
            var party = new Party();
            party.connection = connection;
            party.header = header;
            party.data = text(data);
            requests.add(party);
            return party.events::add;
        }

        @Override
        public boolean asked(SidrServer server, PrivateDataHeader header, MemorySegment data) {
            return room-- > 0 && servers.add(server);
        }
    }

    /** Drops messages with these names from now on. */
    void lose(Predicate<Sent> which) {
        lost = which;
    }

    /** Duplicates messages with these names from now on. */
    void duplicate(Predicate<Sent> which) {
        doubled = which;
    }

    /** Returns the first message with a name. */
    static Predicate<Sent> first(String name) {
        var met = new boolean[1];
        return message -> {
            var isFirst = !met[0] && message.name().equals(name);
            met[0] |= isFirst;
            return isFirst;
        };
    }

    /** Delivers all messages in flight, and all messages that they cause. */
    void deliver() {
        while (!inFlight.isEmpty()) {
            var next = inFlight.remove();
            var target = next.to().equals(here.address) ? here : there;
            target.engine.received(next.from(), next.datagram());
        }
    }

    /** Advances the clock and handles all timers and messages. */
    void pass(long millis) {
        var end = now + millis * 1_000_000;
        deliver();
        for (var next = next(); next <= end; next = next()) {
            now = Math.max(now, next);
            here.engine.expire(now);
            there.engine.expire(now);
            deliver();
        }
        now = end;
    }

    /** Advances the clock until a condition holds, but at most by ten seconds. */
    void passUntil(BooleanSupplier happened) {
        for (var millis = 0; millis < 10_000 && !happened.getAsBoolean(); millis++) {
            pass(1);
        }
        assertThat(happened.getAsBoolean()).isTrue();
    }

    private long next() {
        return Math.min(here.engine.nextDeadline(), there.engine.nextDeadline());
    }

    /** Returns the number of messages sent with a name. */
    long count(String name) {
        return sent.stream().filter(message -> message.name().equals(name)).count();
    }

    static MemorySegment bytes(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns text as it is received, padded with zeros. */
    static String text(MemorySegment data) {
        var bytes = data.toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.UTF_8).replace("\0", "");
    }
}
