package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import org.jrdma.soft.roce.engine.Engine;
import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.sharedmemory.PacketRingReader;
import org.jspecify.annotations.Nullable;

/**
 * Receives the packets of a port: several datagrams with each system call, and the packets in
 * shared memory without system calls. Confined to one thread at a time.
 */
final class PacketReceiver {

    /** The maximum number of messages that one system call receives. */
    private static final int CAPACITY = 16;

    /** The number of packets from a ring after which their memory is released. */
    private static final int RELEASED = 16;

    private final MessageVector vector;
    private final PacketBuffer fromRing = new PacketBuffer();
    private final InvariantCrc checksum = new InvariantCrc();
    private boolean up = true;
    private @Nullable PacketListenerNotifier tracer;
    private long count;

    PacketReceiver(int scope, Arena arena) {
        this.vector = new MessageVector(CAPACITY, MessageVector.COMBINED_BYTES, scope, arena);
    }

    void tracer(@Nullable PacketListenerNotifier next) {
        tracer = next;
    }

    void up(boolean isUp) {
        up = isUp;
    }

    /** Returns the number of packets received so far. */
    long count() {
        return count;
    }

    /**
     * Passes packets from a socket to an engine until the socket is empty or at least {@code
     * packets} packets were passed.
     *
     * @return false if the socket may contain more packets
     */
    boolean receive(UdpSocket socket, Engine engine, int packets) {
        for (var left = packets; left > 0; ) {
            var count = socket.receive(vector.headers(), CAPACITY);
            if (count < 0) {
                // The socket is empty, or reports the failure of an earlier send. The kernel
                // reports such a failure only once, so it is ignored: if packets have arrived, the
                // next poll finds the socket ready.
                return true;
            }
            for (var i = 0; i < count; i++) {
                left -=
                        Math.max(
                                1,
                                pass(i, socket, engine)); // An empty datagram counts as one packet.
            }
            if (count < CAPACITY) {
                return true;
            }
        }
        return false;
    }

    /**
     * Passes up to {@code packets} packets from a ring to an engine. Each packet is copied before
     * it is examined, because its sender could change it at any time.
     *
     * @return the number of packets
     */
    int receive(PacketRingReader ring, Engine engine, int packets) {
        var passed = 0;
        while (passed < packets && ring.read(fromRing)) {
            passed++;
            if (passed % RELEASED == 0) {
                ring.release();
            }
            if (up) {
                pass(fromRing, engine);
            }
        }
        if (passed > 0) {
            ring.release();
            count += passed;
        }
        return passed;
    }

    private void pass(PacketBuffer packet, Engine engine) {
        if (tracer != null) {
            if (!packet.isSealed() && packet.length() >= InvariantCrc.BYTES) {
                checksum.replaceOmitted(packet);
            }
            tracer.received(packet);
        }
        engine.receive(packet);
    }

    /** Passes the packets of one received message to an engine. Returns the number of packets. */
    private int pass(int index, UdpSocket socket, Engine engine) {
        var bytes = vector.received(index);
        var packetBytes = vector.packetBytes(index);
        if (packetBytes <= 0) {
            packetBytes = Math.max(1, bytes);
        }
        var address = socket.address();
        var packets = 0;
        for (var offset = 0; offset < bytes; offset += packetBytes) {
            packets++;
            var length = Math.min(packetBytes, bytes - offset);
            if (!up || length > PacketBuffer.MAX_BYTES) {
                continue;
            }
            var packet = vector.packet(index, offset, length, address.high(), address.low());
            if (tracer != null) {
                tracer.received(packet);
            }
            engine.receive(packet);
        }
        count += packets;
        return packets;
    }
}
