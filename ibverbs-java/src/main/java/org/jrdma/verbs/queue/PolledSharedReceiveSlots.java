package org.jrdma.verbs.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The receive requests of a polled shared receive queue. They complete in any order, and in the
 * completion queues of several queue pairs, which several threads can poll concurrently.
 *
 * <p>Each slot has a number, which the request in the slot carries instead of a position. A polling
 * thread pushes the slot of a completed receive onto a stack of free slots. The posting thread
 * always takes the whole stack at once, which rules out the ABA problem. The elements of the stack
 * refer to each other by slot numbers, which are cheaper than references.
 */
public final class PolledSharedReceiveSlots extends PolledWorkQueueSlots {

    /**
     * All shared receive queues of the polled API. Their receives can complete in any polled
     * completion queue.
     */
    public static final CompletedRequestQueueLookup<PolledWorkQueueSlots> TABLE =
            CompletedRequestQueueLookup.ofShared();

    private static final VarHandle FREED;

    static {
        try {
            FREED =
                    MethodHandles.lookup()
                            .findVarHandle(PolledSharedReceiveSlots.class, "freed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final class Slot {
        final int number;
        long id;

        /**
         * The number, plus 1, of the slot below this slot on the stack; 0 if this slot is the last.
         */
        int below;

        Slot(int number, int below) {
            this.number = number;
            this.below = below;
        }
    }

    private final SharedReceiveCompletionReservations<PolledWorkQueueSlots> sharedReservations =
            new SharedReceiveCompletionReservations<>(this);

    /**
     * The slots by number. The array is replaced when the queue grows, and never becomes shorter.
     */
    private volatile Slot[] slots = {};

    /**
     * The stack of free slots. The upper half is the number of slots; the lower half is the number
     * of the top slot plus 1.
     */
    @SuppressWarnings("unused") // Accessed through FREED.
    private long freed;

    // The fields below are used only by the posting thread: the number of slots taken from the
    // stack so far; the number, plus 1, of the next slot that a request can use; the slots that are
    // assigned to the next positions, as a ring; and the first position without an assigned slot.

    private long reclaimed;
    private int available;
    private Slot[] assigned = {};
    private long assignedUntil;

    public PolledSharedReceiveSlots(int capacity) {
        super(capacity, 0);
        makeSlots(capacity);
    }

    public SharedReceiveCompletionReservations<PolledWorkQueueSlots> sharedReservations() {
        return sharedReservations;
    }

    @Override
    public boolean carriesDatagrams(int queuePairNumber) {
        return sharedReservations.carriesDatagrams(queuePairNumber);
    }

    /** Changes the capacity. Only the posting thread may call this method. */
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
            for (var position = nextPosition(); position < assignedUntil; position++) {
                longer[(int) position & (longer.length - 1)] =
                        assigned[(int) position & (assigned.length - 1)];
            }
            assigned = longer;
        }
    }

    @Override
    public long number(long position, long id) {
        var mask = assigned.length - 1;
        while (assignedUntil <= position) {
            assigned[(int) assignedUntil++ & mask] = takeAvailable();
        }
        var slot = assigned[(int) position & mask];
        slot.id = id;
        return requestNumber(slot.number);
    }

    private Slot takeAvailable() {
        if (available == 0) {
            var stack = (long) FREED.getAndSet(this, 0L);
            reclaimed += stack >>> Integer.SIZE;
            available = (int) stack;
        }
        var slot = slots[available - 1];
        available = slot.below;
        return slot;
    }

    /** Returns the number of free slots. Only the posting thread may call this method. */
    @Override
    public int freeSlots() {
        return capacity() - outstanding();
    }

    @Override
    public boolean hasFreeSlots(int count) {
        return freeSlots() >= count;
    }

    /** Returns the number of receives in flight. Only the posting thread may call this method. */
    @Override
    public int outstanding() {
        var completed = reclaimed + ((long) FREED.getAcquire(this) >>> Integer.SIZE);
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
