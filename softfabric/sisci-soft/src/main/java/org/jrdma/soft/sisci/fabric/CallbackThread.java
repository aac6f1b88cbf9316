package org.jrdma.soft.sisci.fabric;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import org.jrdma.ffi.linkage.FailureLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that runs the callbacks of a program, in the order of the events. */
final class CallbackThread implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(CallbackThread.class);

    private final LinkedBlockingQueue<Runnable> callbacks = new LinkedBlockingQueue<>();
    private final Thread thread;

    CallbackThread(Duration delay) {
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("sisci-soft-callbacks")
                        .unstarted(() -> run(delay));
    }

    void start() {
        thread.start();
    }

    void execute(Runnable callback) {
        callbacks.add(callback);
    }

    boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    private void run(Duration delay) {
        while (true) {
            try {
                var callback = callbacks.take();
                Thread.sleep(delay);
                callback.run();
            } catch (InterruptedException e) {
                return;
            } catch (Throwable e) {
                // The thread continues after a failure, because all callbacks of the program run on
                // it.
                FailureLog.error(LOG, "A callback failed", e);
            }
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
