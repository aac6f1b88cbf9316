package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.jrdma.soft.roce.connection.ConnectOptions;
import org.jrdma.soft.roce.connection.ConnectRequest;
import org.jrdma.soft.roce.connection.Connection;
import org.jrdma.soft.roce.connection.ConnectionEvent;
import org.jrdma.soft.roce.connection.EndpointParameters;
import org.jrdma.soft.roce.connection.ForgedRequestFactory;
import org.jrdma.soft.roce.connection.PrivateDataHeader;
import org.jrdma.soft.roce.connection.ServiceListener;
import org.jrdma.soft.roce.connection.SidrServer;
import org.jrdma.soft.roce.engine.ManagementAgent;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.QueuePairOptions;
import org.jrdma.soft.roce.engine.ReceiveParameters;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.engine.SendParameters;
import org.jrdma.soft.roce.engine.WorkQueues;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.network.Port;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.DatagramHeader;
import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Tests an attack that any local user can make: connect requests that have the address of a peer as
 * their source, but another UDP port.
 */
class ForgedConnectRequestTest {

    private static final long SERVICE = 0x0106_0000L + 7471;
    private static final int REQUESTS = 2_550;

    /** A device with a queue pair, and the events of its connection. */
    private static final class Host implements ServiceListener, AutoCloseable {

        final RoceGid address;
        final DeviceObject device;
        final long context;
        final Port port;
        final QueuePair queuePair;
        final BlockingQueue<ConnectionEvent> events = new LinkedBlockingQueue<>();
        final BlockingQueue<Connection> requests = new LinkedBlockingQueue<>();

        Host() {
            device = ExportedFunctionTestSupport.newDevice();
            context = DeviceExports.openDevice(device.structure().address());
            port = ContextObject.of(context).port();
            address = port.address();
            var options =
                    new QueuePairOptions(
                            Transport.RELIABLE,
                            new ProtectionDomain(),
                            _ -> true,
                            _ -> true,
                            _ -> {},
                            16,
                            16,
                            1,
                            1,
                            0,
                            null,
                            null);
            queuePair =
                    port.control(engine ->
                            Objects.requireNonNull(
                                    engine.newQueuePair(options, WorkQueues.of(options))));
        }

        EndpointParameters offer() {
            return new EndpointParameters(queuePair.number(), 0, 1, 1, false, false, 7);
        }

        void start(Host peer, Connection connection) {
            var sequence = Objects.requireNonNull(connection.negotiated().peers()).sequence();
            queuePair.initialize(0, 0xffff, 0);
            queuePair.readyToReceive(
                    new ReceiveParameters(
                            address,
                            peer.address,
                            peer.queuePair.number(),
                            1024,
                            connection.sequence(),
                            1,
                            12));
            queuePair.readyToSend(new SendParameters(sequence, 14, 7, 7, 1));
        }

        @Override
        public int transport() {
            return ConnectRequest.RELIABLE;
        }

        @Override
        public ConnectionEvent.Receiver requested(
                Connection connection, PrivateDataHeader header, MemorySegment data) {
            requests.add(connection);
            return events::add;
        }

        @Override
        public boolean asked(SidrServer server, PrivateDataHeader header, MemorySegment data) {
            return false;
        }

        <E extends ConnectionEvent> E next(Class<E> type) throws InterruptedException {
            @Nullable ConnectionEvent event = events.poll(20, TimeUnit.SECONDS);
            assertThat(event).isInstanceOf(type);
            return type.cast(event);
        }

        @Override
        public void close() {
            DeviceExports.closeDevice(context);
        }
    }

    @Test
    void shouldNotEndAnIdleConnectionOfAPeerThatAnswers() throws Exception {
        try (var peer = new Host();
                var victim = new Host();
                var attacker = new DatagramSocket(new InetSocketAddress(peer.address.inet(), 0))) {
            victim.port.run(_ -> victim.device.connections().listen(SERVICE, victim));
            var options =
                    new ConnectOptions(
                            SERVICE,
                            ConnectRequest.RELIABLE,
                            peer.offer(),
                            7,
                            0xffff,
                            0,
                            14,
                            new PrivateDataHeader(1, peer.address, victim.address)
                                    .followedBy(MemorySegment.ofArray(new byte[0])));
            var asking =
                    peer.port.control(_ ->
                            peer.device
                                    .connections()
                                    .connect(victim.address, options, peer.events::add));
            var asked = Objects.requireNonNull(victim.requests.poll(20, TimeUnit.SECONDS));
            victim.port.run(_ -> {
                victim.start(peer, asked);
                asked.reply(victim.offer(), MemorySegment.ofArray(new byte[0]));
            });
            peer.next(ConnectionEvent.Replied.class);
            peer.port.run(_ -> {
                peer.start(victim, asking);
                asking.confirm();
            });
            victim.next(ConnectionEvent.Established.class);

            for (var id = 1; id <= REQUESTS; id++) {
                send(attacker, peer, victim, forged(asking.request(), id));
            }
            var deadline = System.nanoTime() + 20_000_000_000L;
            while (received(victim) == 0) {
                assertThat(System.nanoTime()).as("time until the answer").isLessThan(deadline);
                Thread.onSpinWait();
            }
            peer.port.run(_ -> asking.disconnect());

            victim.next(ConnectionEvent.Disconnected.class);
            assertThat(peer.events).isEmpty(); // The forged requests did not end the connection.
            victim.port.run(_ -> asked.disconnect());
            peer.next(ConnectionEvent.Disconnected.class);
        }
    }

    private static long received(Host host) {
        return host.port.control(_ -> host.queuePair.packetsReceived());
    }

    /**
     * Returns a request with the address, adapter and queue pair of the peer, as an attacker would
     * forge it.
     */
    private static ConnectRequest forged(ConnectRequest genuine, int id) {
        var queuePair = genuine.offer().queuePair();
        return ForgedRequestFactory.of(genuine, id, genuine.adapter(), queuePair);
    }

    private static void send(
            DatagramSocket socket, Host source, Host destination, ConnectRequest request)
            throws Exception {
        var message = request.encode();
        try (var arena = Arena.ofConfined()) {
            var packet = new PacketBuffer(arena.allocate(PacketBuffer.MEMORY_BYTES, 64));
            var memory = packet.memory();
            var headers = PacketBuffer.START + BaseTransportHeader.BYTES;
            BaseTransportHeader.encode(
                    memory,
                    PacketBuffer.START,
                    OpCode.UD_SEND_ONLY,
                    false,
                    0,
                    0xffff,
                    ManagementAgent.QUEUE_PAIR,
                    false,
                    0);
            new DatagramHeader(ManagementAgent.QUEUE_KEY, ManagementAgent.QUEUE_PAIR)
                    .encode(memory, headers);
            MemorySegment.copy(
                    message, 0, memory, headers + DatagramHeader.BYTES, message.byteSize());
            packet.length(
                    BaseTransportHeader.BYTES + DatagramHeader.BYTES + (int) message.byteSize());
            packet.addresses(
                    source.address.high(),
                    source.address.low(),
                    destination.address.high(),
                    destination.address.low());
            packet.sourcePort(socket.getLocalPort());
            new InvariantCrc().seal(packet);
            var bytes =
                    memory.asSlice(PacketBuffer.START, packet.length())
                            .toArray(ValueLayout.JAVA_BYTE);
            socket.send(
                    new DatagramPacket(
                            bytes,
                            bytes.length,
                            destination.address.inet(),
                            PacketBuffer.UDP_PORT));
        }
    }
}
