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

/** The devices of one test. For the thread that runs it. */
final class TestFabric {

    private final SoftRoce library;
    private final Verbs verbs;
    private @Nullable ConnectionManager connections;

    /** The devices that were injected into the test. */
    private final TreeMap<Integer, Device> devices = new TreeMap<>();

    private final Set<Lifetime> given = Collections.newSetFromMap(new IdentityHashMap<>());

    private TestFabric(SoftRoce library) {
        this.library = library;
        try {
            this.verbs = Verbs.from(library);
        } catch (LibraryNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Looks whether there can be such a fabric.
     *
     * @throws IllegalArgumentException if not; the message names the element and its range
     */
    static void check(SoftFabricTest wanted) {
        check("devices", wanted.devices(), 1, SoftRoce.MOST_ON_LOOPBACK);
        check("loss", wanted.loss(), 0, 1);
        check("duplication", wanted.duplication(), 0, 1);
        check("reordering", wanted.reordering(), 0, 1);
        check("corruption", wanted.corruption(), 0, 1);
        check("delay", wanted.delay(), 0, 1);
        check("latenessMillis", wanted.latenessMillis(), 0, Integer.MAX_VALUE);
    }

    private static void check(String element, Number value, int least, int most) {
        // So that NaN is none either.
        if (!(value.doubleValue() >= least && value.doubleValue() <= most)) {
            throw new IllegalArgumentException(
                    "@SoftFabricTest(%s = %s): it must be from %d to %d"
                            .formatted(element, value, least, most));
        }
    }

    static TestFabric of(SoftFabricTest wanted) {
        var fabric = new TestFabric(SoftRoce.onLoopback(wanted.devices()));
        var faults =
                NetworkFaults.seeded(wanted.seed())
                        .withLoss(wanted.loss())
                        .withDuplication(wanted.duplication())
                        .withReordering(wanted.reordering())
                        .withCorruption(wanted.corruption())
                        .withDelay(wanted.delay(), Duration.ofMillis(wanted.latenessMillis()));
        fabric.library.devices().forEach(device -> device.faults(faults));
        return fabric;
    }

    Verbs verbs() {
        return verbs;
    }

    /** The connection manager of these devices: the same for all parameters of one test. */
    ConnectionManager connections() throws LibraryNotFoundException {
        if (connections == null) {
            connections = ConnectionManager.from(library);
        }
        return connections;
    }

    /** The IP address of a device, which a device on loopback takes when it is opened. */
    InetAddress address(int index) throws FabricException {
        return device(index).chooseGid(1).best().flatMap(row -> row.gid().ipv4()).orElseThrow();
    }

    SoftDevice softDevice(int index) {
        var all = library.devices();
        if (index >= all.size()) {
            throw new IllegalArgumentException(
                    "The test asks for %d devices; say so: @SoftFabricTest(devices = %d)"
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
        given.add(verbs.openDevices().getLast());
        return device;
    }

    /** What the test made and left open. */
    Optional<AssertionFailedError> leaks() {
        var found = new Leaks();
        for (var device : verbs.openDevices()) {
            if (given.contains(device)) {
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

    /** Closes everything that is open, whether injected or left open by the test. */
    void close() {
        if (connections != null) {
            connections.openIdentifiers().reversed().forEach(Lifetime::close);
        }
        verbs.openDevices().reversed().forEach(Lifetime::close);
    }

    /** Objects that were left open, each below the one that owns it, or one of those that do. */
    private static final class Leaks {

        private final Set<Lifetime> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        private final List<String> lines = new ArrayList<>();
        private final List<Throwable> places = new ArrayList<>();

        void add(Lifetime lifetime, int depth) {
            if (!seen.add(lifetime)) {
                return;
            }
            lines.add("  ".repeat(depth) + lifetime);
            lifetime.made()
                    .ifPresent(made -> {
                        var place = new Throwable(lifetime + " was made here");
                        place.setStackTrace(made.getStackTrace());
                        places.add(place);
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
                                            places.isEmpty()
                                                    ? System.lineSeparator()
                                                            + "-Djrdma.leaks=trace shows where they were made."
                                                    : ""));
            places.forEach(failure::addSuppressed);
            return Optional.of(failure);
        }
    }
}
