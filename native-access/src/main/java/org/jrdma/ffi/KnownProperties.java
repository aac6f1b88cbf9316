package org.jrdma.ffi;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * The system properties that the SDK knows. {@code docs/use/production.md} describes each of them.
 */
public final class KnownProperties {

    private static final String PREFIX = "jrdma.";

    /** The prefix of the properties that only the tests of this project set. */
    private static final String TEST_PREFIX = "jrdma.test.";

    private static final List<String> NAMES =
            List.of(
                    "jrdma.fabric",
                    "jrdma.guard",
                    "jrdma.leaks",
                    "jrdma.sisci.adapters",
                    "jrdma.sisci.delay",
                    "jrdma.sisci.fabric",
                    "jrdma.sisci.mapbytes",
                    "jrdma.sisci.node",
                    "jrdma.sisci.refusals",
                    "jrdma.sisci.weak",
                    "jrdma.sockets.policy",
                    "jrdma.sockets.report",
                    "jrdma.sockets.rsocket.connections",
                    "jrdma.sockets.rsocket.spin",
                    "jrdma.sockets.sisci.hosts",
                    "jrdma.sockets.sisci.spin",
                    "jrdma.sockets.supersockets.family",
                    "jrdma.sockets.transports",
                    "jrdma.soft.corruption",
                    "jrdma.soft.delay",
                    "jrdma.soft.devices",
                    "jrdma.soft.duplication",
                    "jrdma.soft.lateness",
                    "jrdma.soft.loss",
                    "jrdma.soft.reordering",
                    "jrdma.soft.seed",
                    "jrdma.soft.sharedmemory");

    private KnownProperties() {}

    /** Returns the names of all properties. */
    public static List<String> names() {
        return NAMES;
    }

    /**
     * Checks that each system property whose name starts with {@code jrdma.} exists. If a
     * misspelled property were ignored, its default would apply without a notice.
     *
     * @throws IllegalArgumentException if a property does not exist; the message contains the most
     *     similar name
     */
    public static void rejectUnknown() {
        rejectUnknown(PREFIX);
    }

    /**
     * Checks that each system property with a prefix exists.
     *
     * @throws IllegalArgumentException if a property does not exist; the message contains the most
     *     similar name
     */
    public static void rejectUnknown(String prefix) {
        rejectUnknown(prefix, System.getProperties().stringPropertyNames());
    }

    static void rejectUnknown(String prefix, Collection<String> properties) {
        for (var property : new TreeSet<>(properties)) {
            if (property.startsWith(prefix)
                    && !property.startsWith(TEST_PREFIX)
                    && !NAMES.contains(property)) {
                throw new IllegalArgumentException(
                        "Unknown system property %s. Did you mean %s?"
                                .formatted(property, mostSimilar(property, prefix)));
            }
        }
    }

    private static String mostSimilar(String property, String prefix) {
        return NAMES.stream()
                .filter(name -> name.startsWith(prefix))
                .min(Comparator.comparingInt(name -> editDistance(name, property)))
                .orElseThrow();
    }

    /**
     * Returns the Levenshtein distance: the number of characters to insert, delete or replace to
     * change {@code from} to {@code to}.
     */
    private static int editDistance(String from, String to) {
        var distances = new int[to.length() + 1];
        for (var column = 0; column <= to.length(); column++) {
            distances[column] = column;
        }
        for (var row = 1; row <= from.length(); row++) {
            var diagonal = distances[0];
            distances[0] = row;
            for (var column = 1; column <= to.length(); column++) {
                var replaced = diagonal + (from.charAt(row - 1) == to.charAt(column - 1) ? 0 : 1);
                diagonal = distances[column];
                distances[column] =
                        Math.min(replaced, 1 + Math.min(distances[column - 1], distances[column]));
            }
        }
        return distances[to.length()];
    }
}
