package org.jrdma.stress.fuzz;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.ffi.linkage.SeqPacketSocket.Packet.NO_DESCRIPTOR;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.SealedMemory;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.host.SystemCalls;

/**
 * Sends hostile messages to the processes of a SISCI fabric: random packets to their control
 * sockets, forged connect requests to their listeners for sockets, and random datagrams to the UDP
 * ports of these listeners. Used by one thread.
 */
final class HostileMessageSender {

    private static final List<Message.Kind> KINDS = List.of(Message.Kind.values());
    private static final int PER_TARGET = 20;
    private static final Duration TIMEOUT = Duration.ofMillis(20);

    private static final int HEADER_BYTES = 32;
    private static final int MAX_BYTES = 5_000; // More than the longest valid packet.
    private static final int MEMORY_BYTES = 8192;

    // The layouts of the segment of a listener, of its cookies and of a connect request, which
    // SisciListener, AddressCookies and ConnectRequest define.
    private static final long LISTENER = 0x6a72646d_63000002L;
    private static final int NUMBER = 8;
    private static final int COOKIE_PORT = 16;
    private static final int COOKIE_REQUEST_BYTES = 24;
    private static final int COOKIE_REPLY_BYTES = 16;
    private static final int CONNECT_REQUEST_VERSION = 0x6a72_0003;

    private final Node node;
    private final InetAddress victim;
    private final RandomGenerator random;
    private final SeqPacketSocket.Packet packet =
            new SeqPacketSocket.Packet(MAX_BYTES, Arena.ofAuto());
    private long packets;
    private long requests;
    private long cookies;

    HostileMessageSender(Node node, InetAddress victim, RandomGenerator random) {
        this.node = node;
        this.victim = victim;
        this.random = random;
    }

    @Override
    public String toString() {
        return "%,d packets to control sockets, %,d connect requests, %,d cookies"
                .formatted(packets, requests, cookies);
    }

    boolean hasSentPackets() {
        return packets > 0;
    }

    /** Sends random packets to the control socket of a process. */
    void sendPackets(Path member) throws FabricException {
        int socket;
        try {
            socket = SeqPacketSocket.connect(member.toString());
        } catch (FabricException _) {
            return; // The process has ended, or its backlog is full.
        }
        var memory = SealedMemory.create("hostile");
        try {
            SealedMemory.reserve(memory, MEMORY_BYTES);
            if (random.nextInt(8) != 0) {
                packet.memory().fill((byte) 0);
                packet.memory().set(JAVA_INT, 0, KINDS.indexOf(Message.Kind.HELLO));
                packet.memory().set(JAVA_INT, 8, node.id());
                var _ = SeqPacketSocket.send(socket, packet, HEADER_BYTES, NO_DESCRIPTOR);
            }
            for (var index = 0; index < PER_TARGET; index++) {
                var length = randomizePacket();
                var sent = random.nextInt(3) == 0 ? memory : NO_DESCRIPTOR;
                packets += SeqPacketSocket.send(socket, packet, length, sent) == 0 ? 1 : 0;
                discardResponses(socket);
            }
        } finally {
            SystemCalls.close(memory);
            SystemCalls.close(socket);
        }
    }

    /** Creates a packet, and returns its length. */
    private int randomizePacket() {
        for (var at = 0; at < MAX_BYTES; at += Integer.BYTES) {
            packet.memory().set(JAVA_INT, at, number());
        }
        int kind;
        do {
            kind = random.nextInt(KINDS.size() + 2) - 1;
            // Any process may make a device unavailable. The device would stay unavailable.
        } while (kind == KINDS.indexOf(Message.Kind.MAKE_DEVICE_AVAILABLE));
        packet.memory().set(JAVA_INT, 0, kind);
        // Without large sizes, because the memory of the machine is shared with other programs.
        var value = random.nextInt(8) == 0 ? Long.MIN_VALUE >> random.nextInt(64) : number() >> 10;
        packet.memory().set(JAVA_LONG, 24, value);
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(MAX_BYTES + 1);
            case 1 -> HEADER_BYTES + Integer.BYTES * random.nextInt(8);
            default -> HEADER_BYTES;
        };
    }

    private int number() {
        return switch (random.nextInt(3)) {
            case 0 -> random.nextInt();
            case 1 -> random.nextInt(256);
            default -> random.nextInt(8);
        };
    }

    private void discardResponses(int socket) {
        while (SeqPacketSocket.receive(socket, packet) > 0) {
            if (packet.descriptor() != NO_DESCRIPTOR) {
                SystemCalls.close(packet.descriptor());
            }
        }
    }

    /**
     * Sends connect requests and datagrams to a listener for sockets.
     *
     * @param owner the node of the listener
     * @param segment the id of the segment by which clients find the listener
     * @param map the map of the segment
     */
    void attackIfListener(int owner, int segment, RemoteMap map) throws IOException {
        if (map.byteSize() < COOKIE_PORT + Long.BYTES || map.getLong(0) != LISTENER) {
            return;
        }
        var port = segment & 0xffff;
        var number = map.getInt(NUMBER);
        var cookiePort = map.getInt(COOKIE_PORT) & 0xffff;
        var client =
                InetAddress.getByAddress(
                        new byte[] {127, 98, (byte) random.nextInt(), (byte) random.nextInt()});
        var cookie = cookiePort == 0 ? 0 : cookie(client, cookiePort);
        try (var interrupt = node.connectDataInterrupt(owner, number, TIMEOUT)) {
            for (var index = 0; index < PER_TARGET; index++) {
                interrupt.trigger(connectRequest(owner, client, cookie, port), TIMEOUT);
                requests++;
            }
        } catch (FabricException | IllegalStateException _) {
            // The owner has closed the listener, or does not take so many requests.
        }
    }

    /** Sends random datagrams. Returns the cookie for a client, or 0 if no reply arrives. */
    private long cookie(InetAddress client, int port) throws IOException {
        try (var socket = new DatagramSocket(new InetSocketAddress(client, 0))) {
            for (var index = 0; index < PER_TARGET; index++) {
                var bytes = new byte[random.nextInt(2 * COOKIE_REQUEST_BYTES)];
                random.nextBytes(bytes);
                socket.send(new DatagramPacket(bytes, bytes.length, victim, port));
            }
            var number = random.nextLong();
            var request = ByteBuffer.allocate(COOKIE_REQUEST_BYTES).putLong(number).array();
            socket.send(new DatagramPacket(request, request.length, victim, port));
            socket.setSoTimeout((int) TIMEOUT.toMillis());
            var reply = new DatagramPacket(new byte[COOKIE_REPLY_BYTES], COOKIE_REPLY_BYTES);
            do {
                socket.receive(reply);
            } while (ByteBuffer.wrap(reply.getData()).getLong() != number);
            cookies++;
            return ByteBuffer.wrap(reply.getData()).getLong(Long.BYTES);
        } catch (SocketTimeoutException _) {
            return 0;
        }
    }

    /** Creates a request that the listener accepts, except that some of its fields are random. */
    private byte[] connectRequest(int owner, InetAddress client, long cookie, int port) {
        var buffer = ByteBuffer.allocate(64);
        buffer.putInt(random.nextInt(16) == 0 ? number() : CONNECT_REQUEST_VERSION);
        buffer.putInt(random.nextBoolean() ? owner : number());
        buffer.putInt(number()).putInt(number());
        buffer.putLong(random.nextInt(4) == 0 ? random.nextLong() : cookie);
        putAddress(buffer, client, number());
        putAddress(buffer, victim, random.nextInt(4) == 0 ? number() : port);
        if (random.nextInt(4) == 0) {
            buffer.put(random.nextInt(buffer.position()), (byte) random.nextInt());
        }
        var length = random.nextInt(8) == 0 ? random.nextInt(64) : buffer.position();
        return Arrays.copyOf(buffer.array(), length);
    }

    private static void putAddress(ByteBuffer buffer, InetAddress address, int port) {
        var ip = address.getAddress();
        buffer.put((byte) ip.length).put(ip).putShort((short) port);
    }
}
