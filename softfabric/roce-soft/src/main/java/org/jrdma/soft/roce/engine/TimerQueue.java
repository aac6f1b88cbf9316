package org.jrdma.soft.roce.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The timers of queue pairs, in a binary heap ordered by deadline. Each answer of a peer postpones
 * the deadline of a queue pair. Because this is frequent, postponing does not change the heap: when
 * the old deadline expires, {@link #poll} moves the queue pair to its new place.
 */
final class TimerQueue {

    static final long NEVER = Long.MAX_VALUE;

    private @Nullable Schedulable[] heap = new @Nullable Schedulable[16];
    private int size;

    /**
     * Returns the time at which {@link #poll} must be called next. The time may be earlier than the
     * next deadline, but never later.
     */
    long next() {
        return size == 0 ? NEVER : heap[0].timerKey;
    }

    /** Allocates memory for the timers of a number of queue pairs. */
    void reserve(int queuePairs) {
        if (queuePairs > heap.length) {
            heap = Arrays.copyOf(heap, Math.max(queuePairs, 2 * heap.length));
        }
    }

    /** Sets the deadline of a queue pair. {@link #NEVER} stops its timer. */
    void schedule(Schedulable queuePair, long deadline) {
        queuePair.deadline = deadline;
        if (deadline == NEVER) {
            return;
        }
        if (queuePair.timerIndex < 0) {
            queuePair.timerKey = deadline;
            place(queuePair, size++);
            siftUp(queuePair);
        } else if (deadline < queuePair.timerKey) {
            queuePair.timerKey = deadline;
            siftUp(queuePair);
        }
    }

    /**
     * Returns a queue pair whose deadline has passed, and stops its timer. Returns null if there is
     * none.
     */
    @Nullable Schedulable poll(long now) {
        while (size > 0 && heap[0].timerKey <= now) {
            var first = heap[0];
            removeFromHeap(first);
            if (first.deadline <= now) {
                first.deadline = NEVER;
                return first;
            }
            schedule(first, first.deadline);
        }
        return null;
    }

    /** Stops the timer of a queue pair and removes the queue pair from the heap. */
    void remove(Schedulable queuePair) {
        removeFromHeap(queuePair);
        queuePair.deadline = NEVER;
    }

    private void removeFromHeap(Schedulable queuePair) {
        var index = queuePair.timerIndex;
        if (index < 0) {
            return;
        }
        queuePair.timerIndex = -1;
        size--;
        if (index < size) {
            var moved = heap[size];
            place(moved, index);
            siftUp(moved);
            siftDown(moved);
        }
        heap[size] = null;
    }

    private void siftUp(Schedulable queuePair) {
        var index = queuePair.timerIndex;
        while (index > 0) {
            var parent = heap[(index - 1) / 2];
            if (parent.timerKey <= queuePair.timerKey) {
                break;
            }
            place(parent, index);
            index = (index - 1) / 2;
        }
        place(queuePair, index);
    }

    private void siftDown(Schedulable queuePair) {
        var index = queuePair.timerIndex;
        while (2 * index + 1 < size) {
            var child = 2 * index + 1;
            if (child + 1 < size && heap[child + 1].timerKey < heap[child].timerKey) {
                child++;
            }
            if (heap[child].timerKey >= queuePair.timerKey) {
                break;
            }
            place(heap[child], index);
            index = child;
        }
        place(queuePair, index);
    }

    private void place(Schedulable queuePair, int index) {
        heap[index] = queuePair;
        queuePair.timerIndex = index;
    }
}
