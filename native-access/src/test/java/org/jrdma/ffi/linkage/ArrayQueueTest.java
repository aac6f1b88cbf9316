package org.jrdma.ffi.linkage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.NoSuchElementException;
import java.util.Random;
import org.jrdma.ffi.ChildJvm;
import org.junit.jupiter.api.Test;

class ArrayQueueTest {

    private final ArrayQueue<Integer> queue = new ArrayQueue<>();

    @Test
    void shouldContainTheSameElementsAsAnArrayDeque() {
        var expected = new ArrayDeque<Integer>();
        var random = new Random(1);
        for (var i = 0; i < 100_000; i++) {
            var element = random.nextInt(100);
            switch (random.nextInt(9)) {
                case 0, 1, 2 -> {
                    queue.addLast(element);
                    expected.addLast(element);
                }
                case 3 -> {
                    queue.addFirst(element);
                    expected.addFirst(element);
                }
                case 4, 5 -> assertThat(queue.pollFirst()).isEqualTo(expected.pollFirst());
                case 6 ->
                        assertThat(queue.remove(element))
                                .isEqualTo(expected.removeFirstOccurrence(element));
                case 7 -> {
                    assertThat(queue.peekFirst()).isEqualTo(expected.peekFirst());
                    if (!queue.isEmpty()) {
                        assertThat(queue.getLast()).isEqualTo(expected.getLast());
                        assertThat(queue.removeFirst()).isEqualTo(expected.removeFirst());
                    }
                }
                default -> {
                    if (queue.size() > 50) {
                        assertThat(queue.removeIf(each -> each % 2 == 0))
                                .isEqualTo(expected.removeIf(each -> each % 2 == 0));
                    }
                }
            }
            assertThat(queue).hasSize(expected.size());
            if (i % 1_000 == 0) {
                assertThat(queue).containsExactlyElementsOf(expected);
            }
        }
    }

    @Test
    void shouldBeEmptyAfterClear() {
        queue.addLast(1);
        queue.clear();

        assertThat(queue).isEmpty();
        assertThat(queue.pollFirst()).isNull();
    }

    @Test
    void shouldHaveNoFirstElementIfItIsEmpty() {
        assertThatThrownBy(queue::getFirst).isInstanceOf(NoSuchElementException.class);
        assertThatThrownBy(queue::getLast).isInstanceOf(NoSuchElementException.class);
        assertThatThrownBy(queue::removeFirst).isInstanceOf(NoSuchElementException.class);
        assertThatThrownBy(queue.iterator()::next).isInstanceOf(NoSuchElementException.class);
    }

    @Test
    void shouldKeepTheElementsThatAFilterHasNotTested() {
        for (var i = 0; i < 10; i++) {
            queue.addLast(i);
        }

        assertThatThrownBy(() ->
                        queue.removeIf(element -> {
                            if (element == 6) {
                                throw new IllegalStateException("on purpose");
                            }
                            return element % 2 == 0;
                        }))
                .hasMessage("on purpose");

        assertThat(queue).containsExactly(1, 3, 5, 6, 7, 8, 9);
    }

    @Test
    void shouldRejectNull() {
        assertThatThrownBy(() -> queue.addLast(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> queue.addFirst(null)).isInstanceOf(NullPointerException.class);
        assertThat(queue).isEmpty();
    }

    @Test
    void shouldKeepItsElementsIfThereIsNoMemoryForMore() throws Exception {
        var child = ChildJvm.onClassPath(FullQueue.class, "-Xmx16m");

        assertThat(child.output()).contains("all elements are left");
        assertThat(child.exitCode()).isZero();
    }

    /** Main program of a separate JVM, which adds elements until its heap is full. */
    static final class FullQueue {

        private FullQueue() {}

        public static void main(String... arguments) {
            var queue = new ArrayQueue<Boolean>();
            var added = 0;
            try {
                while (true) {
                    queue.addLast(added % 3 == 0);
                    added++;
                }
            } catch (OutOfMemoryError e) {
                check(queue.size() == added);
            }
            for (var i = 0; i < added; i++) {
                check(queue.pollFirst() == (i % 3 == 0));
            }
            check(queue.isEmpty());
            System.out.println("all elements are left");
        }

        private static void check(boolean condition) {
            if (!condition) {
                throw new AssertionError("an element is missing");
            }
        }
    }
}
