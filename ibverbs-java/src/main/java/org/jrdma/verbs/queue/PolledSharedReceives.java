package org.jrdma.verbs.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The receives of a shared queue, which complete in any order, and wherever a queue pair that took
 * one completes its receives: by several threads at a time.
 *
 * <p>Each slot has a number of its own, which the request carries instead of its position. Who
 * completes pushes the slot on a stack; who posts takes the whole stack, so that no slot can leave
 * and come back unseen. The stack is linked by numbers: references would cost more.
 */
public final class PolledSharedReceives extends PolledWorkQueue {

    /** The shared receive queues of this tier, whose receives complete into any polled queue. */
    public static final CompletionTable<PolledWorkQueue> TABLE = CompletionTable.ofShared();

    private static final VarHandle FREED;

    static {
        try {
            FREED =
                    MethodHandles.lookup()
                            .findVarHandle(PolledSharedReceives.class, "freed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final class Slot {
        final int number;
        long id;

        /** The number of the one below it, and 1; 0 for none. */
        int below;

        Slot(int number, int below) {
            this.number = number;
            this.below = below;
        }
    }

    private final Sharing<PolledWorkQueue> sharing = new Sharing<>(this);

    /** By number. Replaced when it grows; never shrinks. */
    private volatile Slot[] slots = {};

    /** How many slots were completed and are not taken back; below that the uppermost, and 1. */
    @SuppressWarnings("unused") // through FREED
    private long freed;

    // Of who posts: how many it took back; the uppermost that nothing has, and 1; and those given
    // to positions from the next one on.

    private long takenBack;
    private int available;
    private Slot[] given = {};
    private long givenUntil;

    public PolledSharedReceives(int capacity) {
        super(capacity, 0);
        makeSlots(capacity);
    }

    public Sharing<PolledWorkQueue> sharing() {
        return sharing;
    }

    @Override
    public boolean isOfDatagrams(int queuePairNumber) {
        return sharing.isOfDatagrams(queuePairNumber);
    }

    /**
     * Changes how many receives there can be. For the thread that posts.
     *
     * @throws IllegalArgumentException if more are posted
     */
    public void resize(int newCapacity) {
        makeSlots(newCapacity);
        capacity(newCapacity);
    }

    private void makeSlots(int count) {
        var before = slots;
        if (count > before.length) {
            var more = Arrays.copyOf(before, count);
            for (var number = before.length; number < count; number++) {
                more[number] = new Slot(number, available);
                available = number + 1;
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
    public long number(long position, long id) {
        var mask = given.length - 1;
        while (givenUntil <= position) {
            given[(int) givenUntil++ & mask] = takeAvailable();
        }
        var slot = given[(int) position & mask];
        slot.id = id;
        return requestNumber(slot.number);
    }

    private Slot takeAvailable() {
        if (available == 0) {
            var stack = (long) FREED.getAndSet(this, 0L);
            takenBack += stack >>> Integer.SIZE;
            available = (int) stack;
        }
        var slot = slots[available - 1];
        available = slot.below;
        return slot;
    }

    /** For the thread that posts. */
    @Override
    public int freeSlots() {
        return capacity() - outstanding();
    }

    /** For the thread that posts. */
    @Override
    public int outstanding() {
        var completed = takenBack + ((long) FREED.getAcquire(this) >>> Integer.SIZE);
        return (int) (nextPosition() - completed);
    }

    @Override
    public long complete(int number) {
        acquirePosted();
        var slot = slots[number];
        var id = slot.id;
        long stack;
        long pushed;
        do {
            stack = (long) FREED.getOpaque(this);
            slot.below = (int) stack;
            pushed = (((stack >>> Integer.SIZE) + 1) << Integer.SIZE) | (number + 1);
        } while (!FREED.weakCompareAndSetRelease(this, stack, pushed));
        return id;
    }
}
