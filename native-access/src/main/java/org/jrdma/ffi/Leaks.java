package org.jrdma.ffi;

import java.lang.ref.Cleaner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports, once each, the native objects that a program dropped without closing. They stay open
 * until their owner closes: an adapter may still be writing to them.
 *
 * <p>{@code -Djrdma.leaks=trace} adds where each was made, at the price of a stack trace for every
 * object; {@code off} reports nothing.
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
     * Reports an object that stands for others, if it is dropped while those live.
     *
     * @param name what to call it
     * @param lifetime of what it has to close; must not refer to it
     */
    public static void watch(Object object, String name, Lifetime lifetime) {
        if (!MODE.equals("off")) {
            if (MODE.equals("trace")) {
                lifetime.made(new Throwable("made here"));
            }
            CLEANER.register(object, () -> report(name, lifetime));
        }
    }

    private static void report(String name, Lifetime lifetime) {
        if (!lifetime.isClosed()) {
            var made = lifetime.made().orElse(null);
            LOG.warn(
                    "{} was never closed{}",
                    name,
                    made == null ? "; -Djrdma.leaks=trace shows where it was made" : "",
                    made);
        }
    }
}
