package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.engine.NetworkPacketSender;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.sharedmemory.OutgoingRings;
import org.jrdma.soft.roce.sharedmemory.PacketRingWriter;
import org.jrdma.soft.roce.sharedmemory.SharedMemoryRings;
import org.jspecify.annotations.Nullable;

/**
 * Sends the packets of the engine of a port. Packets to a peer that shares memory with this process
 * are added to a ring. The others are collected, and several of them are passed to the kernel with
 * one system call. Confined to one thread at a time.
 */
final class PacketTransmitter implements NetworkPacketSender {

    /** The maximum number of packets that are collected before they are sent. */
    private static final int CAPACITY = 32;

    private final UdpSocket socket;
    private final SystemCalls calls;
    private final MessageVector vector;
    private final @Nullable SharedMemoryRings rings;

    /** The index of the first collected packet that the kernel has not accepted yet. */
    private int first;

    /** The number of collected packets. */
    private int count;

    /** The number of packets that the engine may still send in the current round. */
    private int allowance;

    /** True if the buffer of the socket was full at the last attempt to send. */
    private boolean blocked;

    /** True if one message to the kernel may contain several packets (UDP GSO). */
    private boolean combining;

    private boolean up = true;
    private long now;
    private final InvariantCrc checksum = new InvariantCrc();
    private final FaultInjector faultInjector = new FaultInjector(NetworkFaults.NONE);

    /**
     * True if outgoing packets pass through the {@link #faultInjector}, because faults are
     * configured or packets are held back.
     */
    private boolean injecting;

    private @Nullable PacketListenerNotifier tracer;

    /**
     * Creates a transmitter for a socket.
     *
     * @param combining true if one {@code sendmsg} may pass several packets to the kernel (UDP
     *     GSO). The kernel then sets a new IPv4 identification in each packet after the ICRC has
     *     been computed. The ICRC covers this field, so it is wrong for a receiver that reads the
     *     IPv4 header
     * @param rings the rings for packets to peers on this machine; null if all packets use UDP
     */
    PacketTransmitter(
            UdpSocket socket,
            boolean combining,
            int scope,
            SystemCalls calls,
            Arena arena,
            @Nullable SharedMemoryRings rings) {
        this.rings = rings;
        this.combining = combining;
        this.socket = socket;
        this.calls = calls;
        // One additional buffer holds the duplicate of the last packet.
        this.vector = new MessageVector(CAPACITY + 1, PacketBuffer.MEMORY_BYTES, scope, arena);
    }

    /** Sets the number of packets that the engine may send in the coming round. */
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

    void tracer(@Nullable PacketListenerNotifier next) {
        tracer = next;
    }

    void up(boolean isUp) {
        up = isUp;
    }

    /** Returns true if the buffer of the socket was full at the last attempt to send. */
    boolean isBlocked() {
        return blocked;
    }

    @Override
    public @Nullable PacketBuffer claim() {
        return allowance > 0 && hasFreeBuffer() ? vector.buffer(count) : null;
    }

    /** Returns true if a buffer is free, after sending the collected packets if necessary. */
    private boolean hasFreeBuffer() {
        return count < CAPACITY || flush();
    }

    @Override
    public void preparePath(RoceGid remote, long time) {
        if (rings != null) {
            // The peer may have closed and reopened its port since the last check.
            rings.poll(time);
            rings.outgoing().prepare(remote);
        }
    }

    @Override
    public long pathBytes(RoceGid remote, long usual) {
        return rings != null && rings.outgoing().find(remote.high(), remote.low()) != null
                ? OutgoingRings.PATH_BYTES
                : usual;
    }

    private @Nullable PacketRingWriter ringFor(PacketBuffer packet) {
        return rings == null
                ? null
                : rings.outgoing().find(packet.destinationHigh(), packet.destinationLow());
    }

    @Override
    public void send(PacketBuffer packet) {
        allowance--;
        if (!up) {
            return;
        }
        var ring = ringFor(packet);
        // A packet that only passes through a ring needs no checksum, unless it may be damaged or
        // a listener receives it.
        if (ring != null && tracer == null && !injecting) {
            InvariantCrc.omit(packet);
            ring.append(packet);
            return;
        }
        checksum.seal(packet);
        if (!injecting) {
            append(ring);
            return;
        }
        switch (faultInjector.decide(packet, now)) {
            case PASS -> append(ring);
            case PASS_TWICE -> {
                append(ring);
                vector.buffer(count).copyFrom(packet);
                append(ring);
            }
            case HELD_BACK -> {}
            case LOST -> {
                if (tracer != null) {
                    tracer.lost(packet);
                }
            }
        }
    }

    /** Adds the packet in the next free buffer to a ring, or to the collected packets. */
    private void append(@Nullable PacketRingWriter ring) {
        var packet = vector.buffer(count);
        if (tracer != null) {
            tracer.sent(packet);
        }
        if (ring != null) {
            ring.append(packet);
        } else {
            vector.address(count);
            count++;
        }
    }

    /**
     * Adds the held-back packets whose time has come to the collected packets. Called at the start
     * of each send.
     *
     * @param time the current time of the engine
     */
    void release(long time) {
        now = time;
        if (rings != null) {
            rings.check(now);
        }
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
                append(ringFor(packet));
            }
            faultInjector.free(packet);
        }
    }

    /**
     * Returns the time at which {@link #release} must be called next, or {@link
     * FaultInjector#NEVER}.
     */
    long nextDeadline() {
        return injecting ? faultInjector.nextDeadline() : FaultInjector.NEVER;
    }

    /**
     * Sends the collected packets. Returns false if the buffer of the socket is full and packets
     * remain.
     */
    boolean flush() {
        if (rings != null) {
            rings.outgoing().publish();
        }
        var combines = combining;
        var isWithoutLabel = false;
        while (first < count) {
            var messages = vector.combine(first, count, combines);
            var sent = socket.send(vector.headers(), messages);
            if (sent > 0) {
                first = vector.end(sent - 1);
                // The failure was caused by a feature that the kernel does not support, because the
                // retry without the feature has succeeded.
                combining = combines;
                if (isWithoutLabel) {
                    vector.removeLabels(first, count);
                    isWithoutLabel = false;
                }
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
                        // The kernel may not support GSO, so the packets are sent one by one.
                        combines = false;
                    } else if (!isWithoutLabel
                            && calls.errno() == Errno.EINVAL
                            && vector.removeLabel(first)) {
                        // The kernel may not permit the flow label, so the packet is sent without
                        // it.
                        isWithoutLabel = true;
                    } else {
                        // The packet is dropped: it may be too long for the path, have no route, or
                        // be rejected by a filter. The kernel may also have reported the failure of
                        // an earlier packet.
                        first++;
                        combines = combining;
                        isWithoutLabel = false;
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
