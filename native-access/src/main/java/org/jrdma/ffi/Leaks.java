package org.jrdma.ffi;

import java.lang.ref.Cleaner;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs one warning for each native object that became unreachable before it was closed. Such an
 * object is not destroyed until its owner is closed, because an adapter may still be writing to its
 * memory.
 *
 * <p>{@code -Djrdma.leaks=trace} adds the stack trace of each object's creation, at the cost of
 * capturing a stack trace for every object. {@code -Djrdma.leaks=off} disables the warnings.
 */
public final class Leaks {

    private static final Logger LOG = LoggerFactory.getLogger(Leaks.class);
    private static final String MODE = System.getProperty("jrdma.leaks", "report");
    private static final List<String> MODES = List.of("report", "trace", "off");
    private static final Cleaner CLEANER =
            Cleaner.create(Thread.ofPlatform().name("jrdma-leaks").daemon().factory());

    private Leaks() {}

    /**
     * Checks the system property {@code jrdma.leaks}.
     *
     * @throws IllegalArgumentException if the value is not one of {@code report}, {@code trace} and
     *     {@code off}
     */
    public static void checkProperty() {
        if (!MODES.contains(MODE)) {
            throw new IllegalArgumentException(
                    "The system property jrdma.leaks is \"%s\". It must be report, trace or off."
                            .formatted(MODE));
        }
    }

    static void watch(NativeObject object, Lifetime lifetime) {
        watch(object, lifetime.toString(), lifetime);
    }

    /**
     * Logs a warning if an object becomes unreachable while the given lifetime is open.
     *
     * @param name the name of the object for messages
     * @param lifetime the lifetime that ends when the object is closed. It must not refer to the
     *     object, because the object would then never become unreachable
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
