package org.jrdma.soft.sisci.fabric;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/** The thread that fetches stores, while there are any to fetch. */
final class Pump {

    private static final long PERIOD_NANOS = 200_000;

    private final List<Stores> all = new CopyOnWriteArrayList<>();
    private boolean running;

    synchronized void add(Stores stores) {
        all.add(stores);
        if (!running) {
            running = true;
            Thread.ofPlatform().daemon().name("sisci-soft-pump").start(this::run);
        }
    }

    /** After it, their memory is not touched any more. */
    void remove(Stores stores) {
        stores.drain();
        stores.close();
        all.remove(stores);
    }

    void drainAll() {
        if (!all.isEmpty()) { // what follows would be garbage on the hot path
            var those = all.toArray(Stores[]::new);
            Disorder.visit(those.length, i -> those[i].drain());
        }
    }

    /** Something has gone to a segment past the memory where stores to it are gathered. */
    void sentPast(RemoteSegment segment, MemorySegment source, long offset) {
        for (var stores : all) {
            if (stores.isOf(segment)) {
                stores.sentPast(source, offset);
            }
        }
    }

    /** The way to a segment has been cut, or mended. */
    void renew(RemoteSegment segment) {
        for (var stores : all) {
            if (stores.isOf(segment)) {
                stores.renew();
            }
        }
    }

    private void run() {
        while (goesOn()) {
            all.forEach(Stores::tick);
            LockSupport.parkNanos(PERIOD_NANOS);
        }
    }

    private synchronized boolean goesOn() {
        running = !all.isEmpty();
        return running;
    }
}
