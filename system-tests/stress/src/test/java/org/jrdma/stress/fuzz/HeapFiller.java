package org.jrdma.stress.fuzz;

import java.util.ArrayList;
import java.util.List;

/**
 * A thread that repeatedly fills the heap for a moment, so that allocations of other threads fail.
 */
final class HeapFiller implements Runnable {

    private final Thread thread = Thread.ofPlatform().daemon().name("heap-filler").unstarted(this);
    private volatile boolean stopped;

    private HeapFiller() {}

    static HeapFiller start() {
        var filler = new HeapFiller();
        filler.thread.start();
        return filler;
    }

    void stop() throws InterruptedException {
        stopped = true;
        thread.join();
    }

    @Override
    public void run() {
        while (!stopped) {
            List<byte[]> pieces = new ArrayList<>(1 << 16);
            for (var size = 1 << 20; size >= 64 && !stopped; size /= 2) {
                try {
                    while (!stopped && pieces.size() < 1 << 16) {
                        pieces.add(new byte[size]);
                    }
                } catch (OutOfMemoryError _) {
                    // Continues with smaller arrays.
                }
            }
            pieces.clear();
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
