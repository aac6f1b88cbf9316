package org.jrdma.soft.roce;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.model.NetworkFaults;

/**
 * System properties that say which devices there are, and how bad their network is:
 *
 * <ul>
 *   <li>{@code jrdma.soft.devices}: addresses of this machine, or interfaces, which stand for their
 *       address of IPv4, or else of IPv6; with commas between. {@code soft0} is at the first.
 *   <li>{@code jrdma.soft.loss}, {@code duplication}, {@code reordering}, {@code corruption}: the
 *       probabilities of {@link NetworkFaults}.
 *   <li>{@code jrdma.soft.delay}, {@code jrdma.soft.lateness}: how probable, and how many
 *       milliseconds.
 *   <li>{@code jrdma.soft.seed}: the seed of them all.
 * </ul>
 */
final class SoftRoceProperties {

    private static final String PREFIX = "jrdma.soft.";
    private static final Set<String> NAMES =
            new TreeSet<>(
                    Set.of(
                            "devices",
                            "loss",
                            "duplication",
                            "reordering",
                            "corruption",
                            "delay",
                            "lateness",
                            "seed"));
    private static final int LOOPBACK = 127 << 24;
    private static final int LOOPBACK_ADDRESSES = 254;

    private SoftRoceProperties() {}

    static List<DeviceObject> devices() {
        refuseUnknownNames();
        var faults = faults();
        var devices = new ArrayList<DeviceObject>();
        for (var addresses : addresses()) {
            devices.add(
                    new DeviceObject(
                            "soft" + devices.size(), addresses, faults, null, new SecureRandom()));
        }
        return devices;
    }

    /** Whoever has misspelt one would believe in a bad network, and test on a good one. */
    private static void refuseUnknownNames() {
        for (var property : System.getProperties().stringPropertyNames()) {
            if (property.startsWith(PREFIX)
                    && !NAMES.contains(property.substring(PREFIX.length()))) {
                throw new IllegalArgumentException(
                        "There is no property %s; there are %s%s"
                                .formatted(property, PREFIX, String.join(", ", NAMES)));
            }
        }
    }

    static List<List<Address>> addresses() {
        var wanted = System.getProperty(PREFIX + "devices");
        if (wanted == null) {
            return List.of(loopbackAddresses());
        }
        var addresses = new ArrayList<List<Address>>();
        for (var place : wanted.split(",", -1)) {
            var candidates = List.of(addressOf(place.strip()));
            if (addresses.contains(candidates)) {
                throw refusal(
                        "devices", place.strip(), "is there twice, and can be one device's only");
            }
            addresses.add(candidates);
        }
        return addresses;
    }

    private static Address addressOf(String place) {
        try {
            return Address.of(InetAddress.ofLiteral(place));
        } catch (IllegalArgumentException e) {
            return addressOfInterface(place);
        }
    }

    /** Containers get their addresses when they start, and know their interfaces before. */
    private static Address addressOfInterface(String name) {
        NetworkInterface on;
        try {
            on = name.isEmpty() ? null : NetworkInterface.getByName(name);
        } catch (SocketException e) {
            throw refusal("devices", name, "could not be looked up: " + e.getMessage());
        }
        if (on == null) {
            throw refusal(
                    "devices",
                    name,
                    "is neither an address like 127.0.0.1 or ::1, nor an interface of this machine");
        }
        return on.inetAddresses()
                .map(Address::of)
                .min(Comparator.comparing(address -> !address.isIpv4()))
                .orElseThrow(() -> refusal("devices", name, "is an interface without an address"));
    }

    static List<Address> loopbackAddresses() {
        return IntStream.rangeClosed(1, LOOPBACK_ADDRESSES)
                .mapToObj(host -> Address.ipv4(LOOPBACK | host))
                .toList();
    }

    static NetworkFaults faults() {
        return NetworkFaults.seeded(number("seed", "0"))
                .withLoss(probability("loss"))
                .withDuplication(probability("duplication"))
                .withReordering(probability("reordering"))
                .withCorruption(probability("corruption"))
                .withDelay(probability("delay"), lateness());
    }

    private static double probability(String name) {
        var value = System.getProperty(PREFIX + name, "0");
        var probability = Double.NaN;
        try {
            probability = Double.parseDouble(value);
        } catch (NumberFormatException e) {
            // As one that is out of range.
        }
        if (!(probability >= 0 && probability <= 1)) {
            throw refusal(name, value, "is not a probability between 0 and 1");
        }
        return probability;
    }

    private static Duration lateness() {
        var millis = number("lateness", "1");
        if (millis < 0) {
            throw refusal("lateness", Long.toString(millis), "is less than no time");
        }
        return Duration.ofMillis(millis);
    }

    private static long number(String name, String otherwise) {
        var value = System.getProperty(PREFIX + name, otherwise);
        try {
            return Long.decode(value);
        } catch (NumberFormatException e) {
            throw refusal(name, value, "is not a whole number");
        }
    }

    private static IllegalArgumentException refusal(String name, String value, String reason) {
        return new IllegalArgumentException(
                "%s%s: \"%s\" %s".formatted(PREFIX, name, value, reason));
    }
}
