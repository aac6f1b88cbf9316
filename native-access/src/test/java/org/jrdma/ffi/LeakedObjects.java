package org.jrdma.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.List;

/**
 * Main program of a separate JVM: leaks native objects, closes one of them before, and prints the
 * log.
 */
final class LeakedObjects {

    private LeakedObjects() {}

    private static final class Thing extends NativeObject {
        Thing(Lifetime lifetime) {
            super(MemorySegment.NULL, lifetime);
        }
    }

    public static void main(String... arguments) throws InterruptedException {
        var owner = new Thing(new Lifetime("the owner", List.of(), () -> {}));
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

    private static void leak(String name, boolean close, Thing owner) throws InterruptedException {
        var reference = new WeakReference<>(make(name, close, owner));
        while (reference.get() != null) {
            collect();
        }
    }

    private static Thing make(String name, boolean close, Thing owner) {
        var thing = new Thing(new Lifetime(name, List.of(owner.lifetime()), () -> {}));
        if (close) {
            thing.close();
        }
        return thing;
    }

    private static void collect() throws InterruptedException {
        System.gc();
        Thread.sleep(5); // there is no way to wait for the cleaner's thread
    }
}
