package org.jrdma.soft.sisci;

import java.nio.file.Path;
import java.time.Duration;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.ffi.KnownProperties;

/**
 * The fabric and the node that a process joins. Immutable: each method with a parameter returns a
 * changed copy.
 *
 * @param fabric the directory that the processes of the fabric share, in an in-memory file system
 *     whose size limits the total size of segments
 * @param node the id of the node to create or join: 4, 8, ... 248; 0 for the first free id
 * @param adapters the number of adapters of the node, from 1 to 4, which must be the same for all
 *     processes of a node
 * @param faults the faults to inject into this process
 */
@CheckReturnValue
public record SoftSisciOptions(Path fabric, int node, int adapters, FaultOptions faults) {

    /** The value of {@link #node()} for a new node with the first free id. */
    public static final int ANY_NODE = 0;

    private static final int LAST_NODE = 248;
    private static final int MAX_ADAPTERS = 4;
    private static final String PREFIX = "jrdma.sisci.";

    /** Checks the id of the node and the number of adapters. */
    public SoftSisciOptions {
        if (node % 4 != 0 || node < 0 || node > LAST_NODE) {
            throw new IllegalArgumentException(
                    "Invalid node id %d. Valid ids are 4, 8, ... %d, or 0 for any."
                            .formatted(node, LAST_NODE));
        }
        if (adapters < 1 || adapters > MAX_ADAPTERS) {
            throw new IllegalArgumentException(
                    "Invalid number of adapters %d. A node has 1 to %d adapters."
                            .formatted(adapters, MAX_ADAPTERS));
        }
    }

    /** Returns options for a new node of a fabric, with one adapter and no faults. */
    public static SoftSisciOptions in(Path fabric) {
        return new SoftSisciOptions(fabric, ANY_NODE, 1, FaultOptions.NONE);
    }

    /** Returns a copy of these options with another node id. */
    public SoftSisciOptions node(int id) {
        return new SoftSisciOptions(fabric, id, adapters, faults);
    }

    /** Returns a copy of these options with other faults. */
    public SoftSisciOptions faults(FaultOptions newFaults) {
        return new SoftSisciOptions(fabric, node, adapters, newFaults);
    }

    /**
     * Returns the options that system properties configure: {@code fabric}, {@code node} and {@code
     * adapters}, and for the {@link FaultOptions} {@code weak}, {@code delay} in milliseconds,
     * {@code refusals} and {@code mapbytes}. The name of each property has the prefix {@code
     * jrdma.sisci.}, for example {@code jrdma.sisci.node}. By default, the process creates a new
     * node in the fabric of this user, whose directory is in {@code /dev/shm}.
     *
     * @throws IllegalArgumentException if a property has an invalid name or value
     */
    public static SoftSisciOptions configured() {
        KnownProperties.rejectUnknown(PREFIX);
        return new SoftSisciOptions(
                Path.of(System.getProperty(PREFIX + "fabric", defaultFabric())),
                Math.toIntExact(number("node", ANY_NODE)),
                Math.toIntExact(number("adapters", 1)),
                new FaultOptions(
                        Boolean.getBoolean(PREFIX + "weak"),
                        Duration.ofMillis(number("delay", 0)),
                        Math.toIntExact(number("refusals", 0)),
                        number("mapbytes", Long.MAX_VALUE)));
    }

    private static String defaultFabric() {
        return "/dev/shm/jrdma-sisci-" + System.getProperty("user.name");
    }

    /**
     * Returns true if the directory of the fabric is the default one, which only this user may
     * access.
     */
    public boolean isDefaultFabric() {
        return fabric.equals(Path.of(defaultFabric()));
    }

    private static long number(String name, long defaultValue) {
        var value = System.getProperty(PREFIX + name);
        try {
            return value == null ? defaultValue : Long.decode(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "Invalid value of the system property %s%s: \"%s\" is not an integer."
                            .formatted(PREFIX, name, value),
                    e);
        }
    }
}
