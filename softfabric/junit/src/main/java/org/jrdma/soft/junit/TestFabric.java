package org.jrdma.soft.junit;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.soft.roce.SoftDevice;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jspecify.annotations.Nullable;
import org.opentest4j.AssertionFailedError;

/** The fabric of one test. Must be used only by the thread that runs the test. */
final class TestFabric {

    private final SoftRoce library;
    private final Verbs verbs;
    private @Nullable ConnectionManager connections;

    /** The devices that were injected into the test, by index. */
    private final TreeMap<Integer, Device> devices = new TreeMap<>();

    private final Set<Lifetime> injected = Collections.newSetFromMap(new IdentityHashMap<>());

    private TestFabric(SoftRoce library) {
        this.library = library;
        try {
            this.verbs = Verbs.from(library);
        } catch (LibraryNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Checks the elements of an annotation.
     *
     * @throws IllegalArgumentException if an element is out of range; the message names the element
     *     and its range
     */
    static void check(SoftFabricTest annotation) {
        check("devices", annotation.devices(), 1, SoftRoce.MAX_ON_LOOPBACK);
        check("loss", annotation.loss(), 0, 1);
        check("duplication", annotation.duplication(), 0, 1);
        check("reordering", annotation.reordering(), 0, 1);
        check("corruption", annotation.corruption(), 0, 1);
        check("delay", annotation.delay(), 0, 1);
        check("delayMillis", annotation.delayMillis(), 0, Integer.MAX_VALUE);
    }

    private static void check(String element, Number value, int min, int max) {
        // the condition is negated so that NaN is rejected
        if (!(value.doubleValue() >= min && value.doubleValue() <= max)) {
            throw new IllegalArgumentException(
                    "Invalid element @SoftFabricTest(%s = %s): it must be from %d to %d."
                            .formatted(element, value, min, max));
        }
    }

    static TestFabric of(SoftFabricTest annotation) {
        var fabric = new TestFabric(SoftRoce.onLoopback(annotation.devices()));
        var faults =
                NetworkFaults.seeded(annotation.seed())
                        .loss(annotation.loss())
                        .duplication(annotation.duplication())
                        .reordering(annotation.reordering())
                        .corruption(annotation.corruption())
                        .delay(annotation.delay(), Duration.ofMillis(annotation.delayMillis()));
        fabric.library.devices().forEach(device -> device.faults(faults));
        return fabric;
    }

    Verbs verbs() {
        return verbs;
    }

    /** Returns the connection manager, which is the same object for all parameters of the test. */
    ConnectionManager connections() throws LibraryNotFoundException {
        if (connections == null) {
            connections = ConnectionManager.from(library);
        }
        return connections;
    }

    /**
     * Returns the IP address of a device. Opens the device, because a loopback device has no
     * address before it is opened.
     */
    InetAddress address(int index) throws FabricException {
        return device(index).ipAddress().orElseThrow();
    }

    SoftDevice softDevice(int index) {
        var all = library.devices();
        if (index >= all.size()) {
            throw new IllegalArgumentException(
                    "The test has parameters for %d devices. Declare @SoftFabricTest(devices = %d)."
                            .formatted(index + 1, index + 1));
        }
        return all.get(index);
    }

    Device device(int index) throws FabricException {
        var known = devices.get(index);
        if (known != null) {
            return known;
        }
        var device = verbs.open(softDevice(index).name());
        devices.put(index, device);
        injected.add(verbs.openDevices().getLast());
        return device;
    }

    /**
     * Returns a failure that lists the objects that the test created and left open; empty if the
     * test left none open.
     */
    Optional<AssertionFailedError> leaks() {
        var found = new Leaks();
        for (var device : verbs.openDevices()) {
            if (injected.contains(device)) {
                device.dependents().forEach(dependent -> found.add(dependent, 1));
            } else {
                found.add(device, 1);
            }
        }
        if (connections != null) {
            connections.openIdentifiers().forEach(identifier -> found.add(identifier, 1));
        }
        return found.failure();
    }

    /** Closes all open objects: the injected ones, and those that the test left open. */
    void close() {
        if (connections != null) {
            connections.openIdentifiers().reversed().forEach(Lifetime::close);
        }
        verbs.openDevices().reversed().forEach(Lifetime::close);
    }

    /** A report of objects that were left open, each listed once below one of its owners. */
    private static final class Leaks {

        private final Set<Lifetime> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        private final List<String> lines = new ArrayList<>();
        private final List<Throwable> creations = new ArrayList<>();

        void add(Lifetime lifetime, int depth) {
            if (!seen.add(lifetime)) {
                return;
            }
            lines.add("  ".repeat(depth) + lifetime);
            lifetime.creation()
                    .ifPresent(made -> {
                        var creation = new Throwable(lifetime + " was created here");
                        creation.setStackTrace(made.getStackTrace());
                        creations.add(creation);
                    });
            lifetime.dependents().forEach(dependent -> add(dependent, depth + 1));
        }

        Optional<AssertionFailedError> failure() {
            if (lines.isEmpty()) {
                return Optional.empty();
            }
            var failure =
                    new AssertionFailedError(
                            "The test left open:%n%s%s"
                                    .formatted(
                                            String.join(System.lineSeparator(), lines),
                                            creations.isEmpty()
                                                    ? System.lineSeparator()
                                                            + "Set -Djrdma.leaks=trace to see where"
                                                            + " they were created."
                                                    : ""));
            creations.forEach(failure::addSuppressed);
            return Optional.of(failure);
        }
    }
}
