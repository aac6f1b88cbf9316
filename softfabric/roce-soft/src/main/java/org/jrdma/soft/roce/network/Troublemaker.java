package org.jrdma.soft.roce.network;

import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jrdma.soft.roce.Trouble;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/** Does to packets what {@link Trouble} says. */
final class Troublemaker {

    /** What becomes of a packet. */
    enum Fate {
        PASS,
        PASS_TWICE,
        GONE
    }

    static final long NEVER = Long.MAX_VALUE;

    /** How many packets overtake one at most. */
    private static final int OVERTAKING = 4;

    /** How long one waits to be overtaken where nothing follows. */
    private static final long PATIENCE_NANOS = 1_000_000;

    /** More are not held back. */
    private static final int CAPACITY = 4096;

    /** One held back until others have passed or its time has come. */
    private record Held(PacketBuffer packet, long time, long passed) {}

    private Trouble trouble;
    private SplittableRandom random;
    private final List<Held> held = new ArrayList<>();
    private final ArrayDeque<PacketBuffer> free = new ArrayDeque<>();
    private long passed;

    Troublemaker(Trouble trouble) {
        this.trouble = trouble;
        this.random = new SplittableRandom(trouble.seed());
    }

    /** Does this from now on. What is held back goes on when its time comes. */
    void change(Trouble wanted) {
        trouble = wanted;
        random = new SplittableRandom(wanted.seed());
    }

    /** Whether it has nothing to do, and never will. */
    boolean isDone() {
        return trouble.isNone() && held.isEmpty();
    }

    /** Decides about a packet, and damages it or keeps a copy. */
    Fate decide(PacketBuffer packet, long now) {
        // All are drawn each time, so that one decision does not shift the others.
        var lost = random.nextDouble() < trouble.loss();
        var twice = random.nextDouble() < trouble.duplication();
        var overtaken = random.nextDouble() < trouble.reordering();
        var damaged = random.nextDouble() < trouble.corruption();
        var late = random.nextDouble() < trouble.delay();
        var bit = random.nextInt(8 * packet.length());
        var overtakers = 1 + random.nextInt(OVERTAKING);
        passed++;
        if (lost) {
            return Fate.GONE;
        }
        if (damaged) {
            var offset = PacketBuffer.START + bit / 8;
            var value = packet.memory().get(ValueLayout.JAVA_BYTE, offset);
            packet.memory().set(ValueLayout.JAVA_BYTE, offset, (byte) (value ^ 1 << bit % 8));
        }
        if ((late || overtaken) && held.size() < CAPACITY) {
            keep(
                    packet,
                    now + (late ? trouble.lateness().toNanos() : PATIENCE_NANOS),
                    late ? Long.MAX_VALUE : passed + overtakers);
            return twice ? Fate.PASS : Fate.GONE;
        }
        return twice ? Fate.PASS_TWICE : Fate.PASS;
    }

    private void keep(PacketBuffer packet, long time, long until) {
        var copy = free.isEmpty() ? new PacketBuffer() : free.removeLast();
        copy.copyFrom(packet);
        held.add(new Held(copy, time, until));
    }

    /** One that has been held back for long enough, to be given back by {@link #free}. */
    @Nullable PacketBuffer due(long now) {
        for (var i = 0; i < held.size(); i++) {
            if (held.get(i).time() <= now || held.get(i).passed() <= passed) {
                return held.remove(i).packet();
            }
        }
        return null;
    }

    void free(PacketBuffer packet) {
        free.addLast(packet);
    }

    /** When the next is due, though no other passes. */
    long nextDeadline() {
        var next = NEVER;
        for (var one : held) {
            next = Math.min(next, one.time());
        }
        return next;
    }
}
