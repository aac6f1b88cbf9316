package org.jrdma.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The receives of a shared queue, which complete in any order, and wherever a queue pair that took
 * one completes its receives: by several threads at a time.
 *
 * <p>Each slot has a number of its own, which the request carries instead of its position. Who
 * completes pushes the slot on a stack; who posts takes the whole stack, so that no slot can leave
 * and come back unseen.
 */
final class PolledSharedReceives extends PolledWorkQueue {

    private static final VarHandle FREED;

    static {
        try {
            FREED =
                    MethodHandles.lookup()
                            .findVarHandle(PolledSharedReceives.class, "freed", Slot.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final class Slot {
        final int number;
        long id;
        @Nullable Slot next;

        Slot(int number, @Nullable Slot next) {
            this.number = number;
            this.next = next;
        }
    }

    private final Sharing<PolledWorkQueue> sharing = new Sharing<>(this);

    /** By number. Replaced when it grows; never shrinks. */
    private volatile Slot[] slots = {};

    @SuppressWarnings("unused") // through FREED
    private @Nullable Slot freed;

    // Of who posts: the slots that nothing has, and those given to positions from the next one on.

    private @Nullable Slot available;
    private Slot[] given = {};
    private long givenUntil;

    PolledSharedReceives(int capacity) {
        super(capacity, 0);
        makeSlots(capacity);
    }

    Sharing<PolledWorkQueue> sharing() {
        return sharing;
    }

    @Override
    boolean isOfDatagrams(int queuePairNumber) {
        return sharing.isOfDatagrams(queuePairNumber);
    }

    /**
     * Changes how many receives there can be. For the thread that posts.
     *
     * @throws IllegalArgumentException if more are posted
     */
    void resize(int newCapacity) {
        makeSlots(newCapacity);
        capacity(newCapacity);
    }

    private void makeSlots(int count) {
        var before = slots;
        if (count > before.length) {
            var more = Arrays.copyOf(before, count);
            for (var number = before.length; number < count; number++) {
                available = new Slot(number, available);
                more[number] = available;
            }
            slots = more;
            var longer = new Slot[Integer.highestOneBit(count) * 2];
            for (var position = nextPosition(); position < givenUntil; position++) {
                longer[(int) position & (longer.length - 1)] =
                        given[(int) position & (given.length - 1)];
            }
            given = longer;
        }
    }

    @Override
    long number(long position, long id) {
        var mask = given.length - 1;
        while (givenUntil <= position) {
            given[(int) givenUntil++ & mask] = takeAvailable();
        }
        var slot = given[(int) position & mask];
        slot.id = id;
        return requestNumber(slot.number);
    }

    private Slot takeAvailable() {
        if (available == null) {
            available = (Slot) FREED.getAndSet(this, null);
        }
        var slot = available;
        available = slot.next;
        return slot;
    }

    @Override
    long complete(int number) {
        acquirePosted();
        var slot = slots[number];
        var id = slot.id;
        Slot first;
        do {
            first = (Slot) FREED.getOpaque(this);
            slot.next = first;
        } while (!FREED.weakCompareAndSetRelease(this, first, slot));
        releaseOne();
        return id;
    }
}
