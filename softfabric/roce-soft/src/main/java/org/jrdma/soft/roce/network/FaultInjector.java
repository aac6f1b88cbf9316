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

/** Injects {@link NetworkFaults} into packets, and counts them. For one thread at a time. */
final class FaultInjector {

    /** The fate of a packet. */
    enum Fate {
        PASS,
        PASS_TWICE,
        HELD_BACK,
        LOST
    }

    static final long NEVER = Long.MAX_VALUE;

    /** How many packets overtake a packet at most. */
    private static final int OVERTAKING = 4;

    /** How long a packet is held back if no packet follows. */
    private static final long HOLD_NANOS = 1_000_000;

    /** How many packets are held back at most. */
    private static final int CAPACITY = 4096;

    /**
     * A packet held back until its time has come or other packets were sent.
     *
     * @param number its position in the order of sending
     * @param until the position of the last packet that may overtake it
     */
    private record Held(PacketBuffer packet, long number, long time, long until) {}

    private NetworkFaults faults;
    private SplittableRandom random;
    private final List<Held> held = new ArrayList<>();
    private final ArrayDeque<PacketBuffer> free = new ArrayDeque<>();

    /** The greatest position of a packet that has left. */
    private long foremost;

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

    /** Changes the faults. Packets held back still leave when their time comes. */
    void change(NetworkFaults wanted) {
        faults = wanted;
        random = new SplittableRandom(wanted.seed());
    }

    /** Whether no fault is configured and no packet is held back. */
    boolean isDone() {
        return faults.isNone() && held.isEmpty();
    }

    NetworkFaultCounts counts() {
        return new NetworkFaultCounts(sent, lost, duplicated, overtaken, damaged, delayed);
    }

    /** Decides what happens to a packet, and damages it or keeps a copy. */
    Fate decide(PacketBuffer packet, long now) {
        // All numbers are drawn each time, so that no decision depends on another.
        var nowhere = random.nextDouble() < faults.loss();
        var twice = random.nextDouble() < faults.duplication();
        var back = random.nextDouble() < faults.reordering();
        var damage = random.nextDouble() < faults.corruption();
        var late = random.nextDouble() < faults.delay();
        var bit = random.nextInt(8 * packet.length());
        var overtakers = 1 + random.nextInt(OVERTAKING);
        sent++;
        if (nowhere) {
            lost++;
            return Fate.LOST;
        }
        if (damage) {
            damaged++;
            var offset = PacketBuffer.START + bit / 8;
            var value = packet.memory().get(ValueLayout.JAVA_BYTE, offset);
            packet.memory().set(ValueLayout.JAVA_BYTE, offset, (byte) (value ^ 1 << bit % 8));
        }
        if (twice) {
            duplicated++;
        }
        var kept = (late || back) && held.size() < CAPACITY;
        if (kept && late) {
            delayed++;
            keep(packet, now + faults.lateness().toNanos(), Long.MAX_VALUE);
        } else if (kept) {
            keep(packet, now + HOLD_NANOS, sent + overtakers);
        }
        if (kept && !twice) {
            return Fate.HELD_BACK;
        }
        foremost = sent;
        return kept || !twice ? Fate.PASS : Fate.PASS_TWICE;
    }

    private void keep(PacketBuffer packet, long time, long until) {
        var copy = free.isEmpty() ? new PacketBuffer() : free.removeLast();
        copy.copyFrom(packet);
        held.add(new Held(copy, sent, time, until));
    }

    /** A packet whose time has come, to be returned with {@link #free}. */
    @Nullable PacketBuffer due(long now) {
        for (var i = 0; i < held.size(); i++) {
            var one = held.get(i);
            if (one.time() <= now || one.until() <= sent) {
                held.remove(i);
                if (one.number() < foremost) {
                    overtaken++;
                }
                foremost = Math.max(foremost, one.number());
                return one.packet();
            }
        }
        return null;
    }

    void free(PacketBuffer packet) {
        free.addLast(packet);
    }

    /** When the next packet is due if no other packet is sent. */
    long nextDeadline() {
        var next = NEVER;
        for (var one : held) {
            next = Math.min(next, one.time());
        }
        return next;
    }
}
