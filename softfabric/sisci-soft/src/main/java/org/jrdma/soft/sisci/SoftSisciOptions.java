package org.jrdma.soft.sisci;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;

/**
 * The fabric to join, and the node to be.
 *
 * @param fabric the directory that makes processes one fabric: of a file system in memory, whose
 *     size limits what segments there can be
 * @param node the id of the node to be, or to join: 4, 8, ... 248; 0 for the first that is free
 * @param adapters how many adapters the node has, 1 to 4; the same for all processes of a node
 * @param faults the faults to inject into this process
 */
public record SoftSisciOptions(Path fabric, int node, int adapters, FaultOptions faults) {

    /** The node that takes the first id that is free. */
    public static final int ANY_NODE = 0;

    private static final int LAST_NODE = 248;
    private static final int MOST_ADAPTERS = 4;
    private static final String PREFIX = "jrdma.sisci.";
    private static final Set<String> NAMES =
            new TreeSet<>(
                    Set.of("fabric", "node", "adapters", "weak", "delay", "refusals", "mapbytes"));

    /** Checks that there can be such a node. */
    public SoftSisciOptions {
        if (node % 4 != 0 || node < 0 || node > LAST_NODE) {
            throw new IllegalArgumentException(
                    "Node %d: it can be 4, 8, ... %d, or 0 for any".formatted(node, LAST_NODE));
        }
        if (adapters < 1 || adapters > MOST_ADAPTERS) {
            throw new IllegalArgumentException(
                    "%d adapters: there can be 1 to %d".formatted(adapters, MOST_ADAPTERS));
        }
    }

    /** Any node of a fabric, with one adapter and no faults. */
    public static SoftSisciOptions in(Path fabric) {
        return new SoftSisciOptions(fabric, ANY_NODE, 1, FaultOptions.NONE);
    }

    /** These options as another node. */
    public SoftSisciOptions asNode(int id) {
        return new SoftSisciOptions(fabric, id, adapters, faults);
    }

    /** These options with another number of adapters. */
    public SoftSisciOptions withAdapters(int number) {
        return new SoftSisciOptions(fabric, node, number, faults);
    }

    /** These options with other faults. */
    public SoftSisciOptions withFaults(FaultOptions newFaults) {
        return new SoftSisciOptions(fabric, node, adapters, newFaults);
    }

    /**
     * What system properties say: {@code jrdma.sisci.fabric}, {@code node}, {@code adapters}, and
     * of {@link FaultOptions} {@code weak}, {@code delay} in milliseconds, {@code refusals} and
     * {@code mapbytes}. By default any node of the fabric of this user in {@code /dev/shm}.
     *
     * @throws IllegalArgumentException if one makes no sense
     */
    public static SoftSisciOptions configured() {
        for (var property : System.getProperties().stringPropertyNames()) {
            if (property.startsWith(PREFIX)
                    && !NAMES.contains(property.substring(PREFIX.length()))) {
                // a misspelled property would silently leave its default
                throw new IllegalArgumentException(
                        "There is no property %s; there are %s%s"
                                .formatted(property, PREFIX, String.join(", ", NAMES)));
            }
        }
        return new SoftSisciOptions(
                Path.of(System.getProperty(PREFIX + "fabric", fabricOfThisUser())),
                Math.toIntExact(number("node", ANY_NODE)),
                Math.toIntExact(number("adapters", 1)),
                new FaultOptions(
                        Boolean.getBoolean(PREFIX + "weak"),
                        Duration.ofMillis(number("delay", 0)),
                        Math.toIntExact(number("refusals", 0)),
                        number("mapbytes", Long.MAX_VALUE)));
    }

    private static String fabricOfThisUser() {
        return "/dev/shm/jrdma-sisci-" + System.getProperty("user.name");
    }

    /** Returns true for the default directory, which must belong to this user alone. */
    public boolean isOfThisUser() {
        return fabric.equals(Path.of(fabricOfThisUser()));
    }

    private static long number(String name, long otherwise) {
        var value = System.getProperty(PREFIX + name);
        try {
            return value == null ? otherwise : Long.decode(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "%s%s: \"%s\" is not a whole number".formatted(PREFIX, name, value), e);
        }
    }
}
