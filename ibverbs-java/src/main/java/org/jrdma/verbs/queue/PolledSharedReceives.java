package org.jrdma.verbs.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The receives of a polled shared receive queue. They complete in any order and in the completion
 * queues of several queue pairs, which several threads can poll concurrently.
 *
 * <p>Each slot has a number, which its request carries instead of a position. A polling thread
 * pushes the slot of a completion onto a stack of free slots. The posting thread always takes the
 * whole stack, which rules out the ABA problem. The stack is linked by slot numbers, which are
 * cheaper than references.
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

        /** The number of the slot below it plus 1; 0 for none. */
        int below;

        Slot(int number, int below) {
            this.number = number;
            this.below = below;
        }
    }

    private final Sharing<PolledWorkQueue> sharing = new Sharing<>(this);

    /** The slots by number. Replaced when it grows; never shrinks. */
    private volatile Slot[] slots = {};

    /** The free stack. Upper half: its size; lower half: the top slot plus 1. */
    @SuppressWarnings("unused") // through FREED
    private long freed;

    // Fields of the posting thread: the number of slots taken from the stack; the number of the
    // next available slot plus 1; and the slots assigned to the next positions.

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
    public boolean carriesDatagrams(int queuePairNumber) {
        return sharing.carriesDatagrams(queuePairNumber);
    }

    /** Changes the capacity. Only for the posting thread. */
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

    @Override
    public boolean hasFreeSlots(int count) {
        return freeSlots() >= count;
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
