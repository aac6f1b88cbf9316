package org.jrdma.stress.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A limited number of objects of each class that the fuzzer has created, both open and closed ones.
 * Safe for use by multiple threads.
 */
final class ObjectPool {

    private static final int PER_CLASS = 6;

    private final Map<Class<?>, AtomicReferenceArray<@Nullable Object>> objects =
            new ConcurrentHashMap<>();
    private final List<Class<?>> classes = new CopyOnWriteArrayList<>();

    /** Adds an object. Returns the object of the same class that it replaces, or null. */
    @Nullable Object put(Object object, RandomGenerator random) {
        var slots =
                objects.computeIfAbsent(
                        object.getClass(),
                        type -> {
                            classes.add(type);
                            return new AtomicReferenceArray<>(PER_CLASS);
                        });
        return slots.getAndSet(random.nextInt(PER_CLASS), object);
    }

    /** Returns an object of this type, or null if there is none. */
    @Nullable Object any(Class<?> type, RandomGenerator random) {
        var count = classes.size();
        if (count == 0) {
            return null;
        }
        var start = random.nextInt(count);
        for (var step = 0; step < count; step++) {
            var candidate = classes.get((start + step) % count);
            if (type.isAssignableFrom(candidate)) {
                var slots = objects.get(candidate);
                var first = random.nextInt(PER_CLASS);
                for (var slot = 0; slots != null && slot < PER_CLASS; slot++) {
                    var object = slots.get((first + slot) % PER_CLASS);
                    if (object != null) {
                        return object;
                    }
                }
            }
        }
        return null;
    }

    /** Removes and returns all objects. */
    List<Object> drain() {
        var all = new ArrayList<Object>();
        for (var slots : objects.values()) {
            for (var slot = 0; slot < PER_CLASS; slot++) {
                var object = slots.getAndSet(slot, null);
                if (object != null) {
                    all.add(object);
                }
            }
        }
        return all;
    }
}
