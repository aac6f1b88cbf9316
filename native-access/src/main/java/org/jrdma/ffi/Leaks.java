package org.jrdma.ffi;

import java.lang.ref.Cleaner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports native objects that became unreachable without having been closed, once each. They stay
 * open until their owner closes, because an adapter may still be writing to them.
 *
 * <p>{@code -Djrdma.leaks=trace} adds the stack trace of each object's creation, at the cost of
 * capturing a stack trace for every object. {@code -Djrdma.leaks=off} disables the reports.
 */
public final class Leaks {

    private static final Logger LOG = LoggerFactory.getLogger(Leaks.class);
    private static final String MODE = System.getProperty("jrdma.leaks", "report");
    private static final Cleaner CLEANER =
            Cleaner.create(Thread.ofPlatform().name("jrdma-leaks").daemon().factory());

    private Leaks() {}

    static void watch(NativeObject object, Lifetime lifetime) {
        watch(object, lifetime.toString(), lifetime);
    }

    /**
     * Reports an object if it becomes unreachable while the given lifetime is open.
     *
     * @param name the name of the object for messages
     * @param lifetime the lifetime that closing the object ends; must not refer to the object
     */
    public static void watch(Object object, String name, Lifetime lifetime) {
        if (!MODE.equals("off")) {
            if (MODE.equals("trace")) {
                lifetime.recordCreation(new Throwable("Created here"));
            }
            CLEANER.register(object, () -> report(name, lifetime));
        }
    }

    private static void report(String name, Lifetime lifetime) {
        if (!lifetime.isClosed()) {
            var creation = lifetime.creation().orElse(null);
            LOG.warn(
                    "{} was never closed{}",
                    name,
                    creation == null ? "; -Djrdma.leaks=trace shows where it was created" : "",
                    creation);
        }
    }
}
