package org.jrdma.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.List;

/**
 * Main program of a separate JVM. It creates native objects and drops the references to them,
 * closes one of them first, and prints the log.
 */
final class LeakingProgram {

    private LeakingProgram() {}

    private static final class TestObject extends NativeObject {
        TestObject(Lifetime lifetime) {
            super(MemorySegment.NULL, lifetime);
        }
    }

    public static void main(String... arguments) throws InterruptedException {
        var owner = new TestObject(new Lifetime("the owner", List.of(), () -> {}));
        try (var log = new CapturedLog()) {
            leak("the closed object", true, owner);
            leak("the leaked object", false, owner);
            leak("the last object", false, owner);
            for (var i = 0; i < 200 && !log.toString().contains("the last object"); i++) {
                collect();
            }
            System.out.println(log);
        } finally {
            Reference.reachabilityFence(owner);
        }
    }

    private static void leak(String name, boolean close, TestObject owner)
            throws InterruptedException {
        var reference = new WeakReference<>(create(name, close, owner));
        while (reference.get() != null) {
            collect();
        }
    }

    private static TestObject create(String name, boolean close, TestObject owner) {
        var object = new TestObject(new Lifetime(name, List.of(owner.lifetime()), () -> {}));
        if (close) {
            object.close();
        }
        return object;
    }

    private static void collect() throws InterruptedException {
        System.gc();
        Thread.sleep(5); // time for the cleaner's thread, which a test cannot await
    }
}
