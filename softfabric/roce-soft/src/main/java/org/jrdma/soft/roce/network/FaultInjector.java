package org.jrdma.soft.roce.network;

import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Applies the configured {@link NetworkFaults} to outgoing packets, and counts the faults. Confined
 * to one thread at a time.
 */
final class FaultInjector {

    /** The treatment of an outgoing packet. */
    enum Treatment {
        PASS,
        PASS_TWICE,
        HELD_BACK,
        LOST
    }

    static final long NEVER = Long.MAX_VALUE;

    /** The maximum number of later packets that may overtake a reordered packet. */
    private static final int MAX_OVERTAKERS = 4;

    /** The time after which a reordered packet is sent even if no further packet overtakes it. */
    private static final long HOLD_NANOS = 1_000_000;

    /** The maximum number of packets that are held back at a time. */
    private static final int CAPACITY = 4096;

    /**
     * A copy of a packet that is held back until a point in time or until enough later packets were
     * sent.
     *
     * @param number the position of the packet in the order in which the engine sent its packets
     * @param time the time at which the packet is due
     * @param until the position of the last packet that may overtake this packet
     */
    private record Held(PacketBuffer packet, long number, long time, long until) {}

    private NetworkFaults faults;
    private SplittableRandom random;
    private final List<Held> held = new ArrayList<>();
    private final ArrayDeque<PacketBuffer> free = new ArrayDeque<>();

    /** The highest position of a packet that has left the fault injector. */
    private long maxNumberSent;

    /**
     * The number of packets that the engine has sent, which is also the position of the most recent
     * one.
     */
    private long sent;

    private long lost;
    private long duplicated;
    private long overtaken;
    private long damaged;
    private long delayed;

    FaultInjector(NetworkFaults faults) {
        this.faults = faults;
        this.random = new SplittableRandom(faults.seed());
    }

    /**
     * Changes the configured faults. Packets that are already held back are still sent when they
     * are due.
     */
    void change(NetworkFaults newFaults) {
        faults = newFaults;
        random = new SplittableRandom(newFaults.seed());
    }

    /** Returns true if no fault is configured and no packet is held back. */
    boolean isDone() {
        return faults.isNone() && held.isEmpty();
    }

    NetworkFaultCounts counts() {
        return new NetworkFaultCounts(sent, lost, duplicated, overtaken, damaged, delayed);
    }

    /**
     * Decides the treatment of a packet. Also damages the packet if the treatment requires it, and
     * keeps a copy of a packet that is held back.
     */
    Treatment decide(PacketBuffer packet, long now) {
        // All random numbers are drawn for each packet, so that the probability of one fault does
        // not change the random numbers for another fault.
        var isLost = random.nextDouble() < faults.loss();
        var isDuplicated = random.nextDouble() < faults.duplication();
        var isReordered = random.nextDouble() < faults.reordering();
        var isDamaged = random.nextDouble() < faults.corruption();
        var isDelayed = random.nextDouble() < faults.delay();
        var bit = random.nextInt(8 * packet.length());
        var overtakers = 1 + random.nextInt(MAX_OVERTAKERS);
        sent++;
        if (isLost) {
            lost++;
            return Treatment.LOST;
        }
        if (isDamaged) {
            damaged++;
            var offset = PacketBuffer.START + bit / 8;
            var value = packet.memory().get(ValueLayout.JAVA_BYTE, offset);
            packet.memory().set(ValueLayout.JAVA_BYTE, offset, (byte) (value ^ 1 << bit % 8));
        }
        if (isDuplicated) {
            duplicated++;
        }
        var kept = (isDelayed || isReordered) && held.size() < CAPACITY;
        if (kept && isDelayed) {
            delayed++;
            keep(packet, now + faults.lateness().toNanos(), Long.MAX_VALUE);
        } else if (kept) {
            keep(packet, now + HOLD_NANOS, sent + overtakers);
        }
        if (kept && !isDuplicated) {
            return Treatment.HELD_BACK;
        }
        maxNumberSent = sent;
        return kept || !isDuplicated ? Treatment.PASS : Treatment.PASS_TWICE;
    }

    private void keep(PacketBuffer packet, long time, long until) {
        var copy = free.isEmpty() ? new PacketBuffer() : free.removeLast();
        copy.copyFrom(packet);
        held.add(new Held(copy, sent, time, until));
    }

    /**
     * Removes and returns a packet whose time has come, or returns null if there is none. The
     * caller passes the buffer to {@link #free} after sending the packet.
     */
    @Nullable PacketBuffer due(long now) {
        for (var i = 0; i < held.size(); i++) {
            var heldPacket = held.get(i);
            if (heldPacket.time() <= now || heldPacket.until() <= sent) {
                held.remove(i);
                if (heldPacket.number() < maxNumberSent) {
                    overtaken++;
                }
                maxNumberSent = Math.max(maxNumberSent, heldPacket.number());
                return heldPacket.packet();
            }
        }
        return null;
    }

    /** Makes the buffer of a packet available for copies of other packets. */
    void free(PacketBuffer packet) {
        free.addLast(packet);
    }

    /**
     * Returns the time at which the next packet is due if no other packet is sent until then, or
     * {@link #NEVER}.
     */
    long nextDeadline() {
        var next = NEVER;
        for (var heldPacket : held) {
            next = Math.min(next, heldPacket.time());
        }
        return next;
    }
}
