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
 * Injects {@link NetworkFaults} into packets, and counts them. Confined to one thread at a time.
 */
final class FaultInjector {

    /** The treatment of a packet. */
    enum Treatment {
        PASS,
        PASS_TWICE,
        HELD_BACK,
        LOST
    }

    static final long NEVER = Long.MAX_VALUE;

    /** The maximum number of packets that overtake a packet. */
    private static final int MAX_OVERTAKERS = 4;

    /** The time that a packet is held back if no packet follows. */
    private static final long HOLD_NANOS = 1_000_000;

    /** The maximum number of packets held back. */
    private static final int CAPACITY = 4096;

    /**
     * A packet that is held back until a deadline, or until other packets were sent.
     *
     * @param number the position of the packet in the order of sending
     * @param until the position of the last packet that may overtake the packet
     */
    private record Held(PacketBuffer packet, long number, long time, long until) {}

    private NetworkFaults faults;
    private SplittableRandom random;
    private final List<Held> held = new ArrayList<>();
    private final ArrayDeque<PacketBuffer> free = new ArrayDeque<>();

    /** The maximum position of a packet that has been sent. */
    private long maxNumberSent;

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

    /** Changes the faults. Packets already held back are still sent when they are due. */
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

    /** Decides the treatment of a packet, and damages the packet or keeps a copy. */
    Treatment decide(PacketBuffer packet, long now) {
        // All random numbers are drawn each time, so that decisions are independent of each other.
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

    /** Returns a packet that is due, or null. The caller returns it with {@link #free}. */
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

    void free(PacketBuffer packet) {
        free.addLast(packet);
    }

    /** Returns the time when the next packet is due if no other packet is sent. */
    long nextDeadline() {
        var next = NEVER;
        for (var heldPacket : held) {
            next = Math.min(next, heldPacket.time());
        }
        return next;
    }
}
