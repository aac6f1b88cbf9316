package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.engine.PacketLink;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The link of a port: collects the packets of an engine and sends many with one system call. For
 * one thread at a time.
 */
final class PacketTransmitter implements PacketLink {

    private static final int CAPACITY = 32;

    private final UdpSocket socket;
    private final SystemCalls calls;
    private final MessageVector vector;

    /** The first message that is not sent; those before it are. */
    private int first;

    private int count;
    private int allowance;
    private boolean blocked;

    /** Whether several packets go in one message. */
    private boolean combining;

    private boolean up = true;
    private long now;
    private final FaultInjector faultInjector = new FaultInjector(NetworkFaults.NONE);

    /** Whether packets go through the {@link #faultInjector}. */
    private boolean injecting;

    private @Nullable PacketTracer tracer;

    /**
     * @param combining whether several packets may go in one message: their checksums are then
     *     wrong for those who see the identification that the kernel gives each of them
     */
    PacketTransmitter(
            UdpSocket socket, boolean combining, int scope, SystemCalls calls, Arena arena) {
        this.combining = combining;
        this.socket = socket;
        this.calls = calls;
        // One more, for the twin of the last.
        this.vector = new MessageVector(CAPACITY + 1, PacketBuffer.MEMORY_BYTES, scope, arena);
    }

    /** Allows as many packets more, so that a round ends. */
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

    /** Whether the socket takes no more for now. */
    boolean isBlocked() {
        return blocked;
    }

    @Override
    public @Nullable PacketBuffer claim() {
        return allowance > 0 && hasRoom() ? vector.buffer(count) : null;
    }

    private boolean hasRoom() {
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

    /** Lets go what was held back until now. */
    void release(long time) {
        now = time;
        if (!injecting) {
            return;
        }
        while (hasRoom()) {
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

    /** When to {@link #release} next. */
    long nextDeadline() {
        return injecting ? faultInjector.nextDeadline() : FaultInjector.NEVER;
    }

    /** Sends what was gathered. False if the socket did not take all of it. */
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
                        combining = false; // perhaps this kernel cannot
                    } else {
                        // Too long for the path, no route, refused by a filter, an error that an
                        // earlier packet met: this packet is lost, as packets may be.
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
