package org.jrdma.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.List;

/** Run in a JVM of its own: forgets native objects, one of them closed, and prints the log. */
final class ForgottenObjects {

    private ForgottenObjects() {}

    private static final class Thing extends NativeObject {
        Thing(Lifetime lifetime) {
            super(MemorySegment.NULL, lifetime);
        }
    }

    public static void main(String... arguments) throws InterruptedException {
        var owner = new Thing(new Lifetime("the owner", List.of(), () -> {}));
        try (var log = new CapturedLog()) {
            forget("the closed one", true, owner);
            forget("the forgotten one", false, owner);
            forget("the last one", false, owner);
            for (var i = 0; i < 200 && !log.toString().contains("the last one"); i++) {
                collect();
            }
            System.out.println(log);
        } finally {
            Reference.reachabilityFence(owner);
        }
    }

    private static void forget(String name, boolean close, Thing owner)
            throws InterruptedException {
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
        Thread.sleep(5); // the cleaner's thread has no other way to be waited for
    }
}
