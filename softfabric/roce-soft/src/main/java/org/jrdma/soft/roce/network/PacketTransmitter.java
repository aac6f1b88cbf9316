package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.engine.PacketLink;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The link of a port: collects the packets of an engine and sends many with one system call.
 * Confined to one thread at a time.
 */
final class PacketTransmitter implements PacketLink {

    private static final int CAPACITY = 32;

    private final UdpSocket socket;
    private final SystemCalls calls;
    private final MessageVector vector;

    /** The first packet that was not sent yet. */
    private int first;

    private int count;
    private int allowance;
    private boolean blocked;

    /** True if a message may carry several packets. */
    private boolean combining;

    private boolean up = true;
    private long now;
    private final FaultInjector faultInjector = new FaultInjector(NetworkFaults.NONE);

    /** True if packets go through the {@link #faultInjector}. */
    private boolean injecting;

    private @Nullable PacketTracer tracer;

    /**
     * @param combining whether a message may carry several packets. Their checksums are then wrong
     *     for a receiver that sees the identification that the kernel assigns to each of them
     */
    PacketTransmitter(
            UdpSocket socket, boolean combining, int scope, SystemCalls calls, Arena arena) {
        this.combining = combining;
        this.socket = socket;
        this.calls = calls;
        // One buffer more, for a duplicate of the last packet.
        this.vector = new MessageVector(CAPACITY + 1, PacketBuffer.MEMORY_BYTES, scope, arena);
    }

    /** Sets the number of packets that may be sent in this round. */
    void allow(int packets) {
        allowance = packets;
    }

    void faults(NetworkFaults faults) {
        faultInjector.change(faults);
        injecting |= !faults.isNone();
    }

    NetworkFaultCounts faultCounts() {
        return faultInjector.counts();
    }

    void tracer(@Nullable PacketTracer next) {
        tracer = next;
    }

    void up(boolean isUp) {
        up = isUp;
    }

    /** Returns true if the socket accepts no more packets for now. */
    boolean isBlocked() {
        return blocked;
    }

    @Override
    public @Nullable PacketBuffer claim() {
        return allowance > 0 && hasFreeBuffer() ? vector.buffer(count) : null;
    }

    private boolean hasFreeBuffer() {
        return count < CAPACITY || flush();
    }

    @Override
    public void send(PacketBuffer packet) {
        allowance--;
        if (!up) {
            return;
        }
        if (!injecting) {
            append();
            return;
        }
        switch (faultInjector.decide(packet, now)) {
            case PASS -> append();
            case PASS_TWICE -> {
                append();
                vector.buffer(count).copyFrom(packet);
                append();
            }
            case HELD_BACK -> {}
            case LOST -> {
                if (tracer != null) {
                    tracer.lost(packet);
                }
            }
        }
    }

    private void append() {
        if (tracer != null) {
            tracer.sent(vector.buffer(count));
        }
        vector.address(count);
        count++;
    }

    /** Sends the packets that were held back and are due. */
    void release(long time) {
        now = time;
        if (!injecting) {
            return;
        }
        while (hasFreeBuffer()) {
            var packet = faultInjector.due(now);
            if (packet == null) {
                injecting = !faultInjector.isDone();
                return;
            }
            if (up) {
                vector.buffer(count).copyFrom(packet);
                append();
            }
            faultInjector.free(packet);
        }
    }

    /** Returns the time of the next {@link #release}. */
    long nextDeadline() {
        return injecting ? faultInjector.nextDeadline() : FaultInjector.NEVER;
    }

    /** Sends the collected packets. Returns false if the socket did not accept all of them. */
    boolean flush() {
        while (first < count) {
            var messages = vector.combine(first, count, combining);
            var sent = socket.send(vector.headers(), messages);
            if (sent > 0) {
                first = vector.end(sent - 1);
                continue;
            }
            switch (calls.errno()) {
                case Errno.EINTR -> {}
                case Errno.EAGAIN -> {
                    blocked = true;
                    return false;
                }
                default -> {
                    if (vector.end(0) - first > 1) {
                        combining = false; // the kernel may not support it
                    } else {
                        // Too long for the path, no route, rejected by a filter, or an error that
                        // an
                        // earlier packet caused: this packet is lost.
                        first++;
                    }
                }
            }
        }
        first = 0;
        count = 0;
        blocked = false;
        return true;
    }
}
