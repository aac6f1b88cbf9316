package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import org.jrdma.soft.roce.engine.Engine;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Receives the packets of a port, many datagrams with one system call. For one thread at a time.
 */
final class PacketReceiver {

    private static final int CAPACITY = 16;

    private final MessageVector vector;
    private boolean up = true;
    private @Nullable PacketTracer tracer;

    PacketReceiver(int scope, Arena arena) {
        this.vector = new MessageVector(CAPACITY, MessageVector.COMBINED_BYTES, scope, arena);
    }

    void tracer(@Nullable PacketTracer next) {
        tracer = next;
    }

    void up(boolean isUp) {
        up = isUp;
    }

    /**
     * Passes received packets to an engine, up to a number of packets.
     *
     * @return false if there may be more
     */
    boolean receive(UdpSocket socket, Engine engine, int packets) {
        for (var left = packets; left > 0; ) {
            var count = socket.receive(vector.headers(), CAPACITY);
            if (count < 0) {
                // Or the error of a sent packet, which is reported once and ignored here. Packets
                // that wait behind it make the socket ready again.
                return true;
            }
            for (var i = 0; i < count; i++) {
                left -=
                        Math.max(
                                1, take(i, socket, engine)); // one with nothing in it took time too
            }
            if (count < CAPACITY) {
                return true;
            }
        }
        return false;
    }

    /** Passes on the packets of one message. Returns how many. */
    private int take(int index, UdpSocket socket, Engine engine) {
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
            if (!up || length > PacketBuffer.MAXIMUM_BYTES) {
                continue;
            }
            var packet = vector.packet(index, offset, length, address.high(), address.low());
            if (tracer != null) {
                tracer.received(packet);
            }
            engine.receive(packet);
        }
        return packets;
    }
}
