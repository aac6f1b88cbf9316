package org.jrdma.soft.roce;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jrdma.ffi.KnownProperties;
import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.model.NetworkFaults;

/**
 * The system properties that configure the devices and the faults of their network:
 *
 * <ul>
 *   <li>{@code jrdma.soft.devices}: a comma-separated list with one entry for each device,
 *       beginning with {@code soft0}. An entry is an address or a network interface of this
 *       machine. For an interface, its IPv4 address is used, or its IPv6 address if it has no IPv4
 *       address.
 *   <li>{@code jrdma.soft.loss}, {@code duplication}, {@code reordering}, {@code corruption}: the
 *       probabilities of {@link NetworkFaults}.
 *   <li>{@code jrdma.soft.delay}, {@code jrdma.soft.lateness}: the probability of a delay, and its
 *       length in milliseconds.
 *   <li>{@code jrdma.soft.seed}: the seed of all decisions.
 *   <li>{@code jrdma.soft.sharedmemory}: {@code off} if all packets must use UDP, otherwise {@code
 *       on}. This property applies to all devices of the process, however they are created.
 * </ul>
 */
final class SoftRoceProperties {

    private static final String PREFIX = "jrdma.soft.";
    private static final int LOOPBACK = 127 << 24;
    private static final int LOOPBACK_ADDRESSES = 254;

    private SoftRoceProperties() {}

    static List<DeviceObject> devices() {
        KnownProperties.rejectUnknown(PREFIX);
        var faults = faults();
        var devices = new ArrayList<DeviceObject>();
        for (var addresses : addresses()) {
            devices.add(
                    new DeviceObject(
                            "soft" + devices.size(),
                            addresses,
                            faults,
                            null,
                            sharesMemory(),
                            new SecureRandom()));
        }
        return devices;
    }

    static List<List<RoceGid>> addresses() {
        var value = System.getProperty(PREFIX + "devices");
        if (value == null) {
            return List.of(loopbackAddresses());
        }
        var addresses = new ArrayList<List<RoceGid>>();
        for (var entry : value.split(",", -1)) {
            var candidates = List.of(addressOf(entry.strip()));
            if (addresses.contains(candidates)) {
                throw invalid(
                        "devices",
                        entry.strip(),
                        "is a duplicate address: each device needs its own");
            }
            addresses.add(candidates);
        }
        return addresses;
    }

    private static RoceGid addressOf(String entry) {
        try {
            return RoceGid.of(InetAddress.ofLiteral(entry));
        } catch (IllegalArgumentException e) {
            return addressOfInterface(entry);
        }
    }

    /**
     * Returns the address of a network interface, preferably an IPv4 address. Interface names are
     * supported because the name of a container's interface is known before the container starts,
     * unlike its address.
     */
    private static RoceGid addressOfInterface(String name) {
        NetworkInterface found;
        try {
            found = name.isEmpty() ? null : NetworkInterface.getByName(name);
        } catch (SocketException e) {
            throw invalid("devices", name, "could not be looked up: " + e.getMessage());
        }
        if (found == null) {
            throw invalid(
                    "devices",
                    name,
                    "is neither an address such as 127.0.0.1 or ::1 nor a network interface of this"
                            + " machine");
        }
        return found.inetAddresses()
                .map(RoceGid::of)
                .min(Comparator.comparing(address -> !address.isIpv4()))
                .orElseThrow(() ->
                        invalid("devices", name, "is a network interface without an address"));
    }

    static List<RoceGid> loopbackAddresses() {
        return IntStream.rangeClosed(1, LOOPBACK_ADDRESSES)
                .mapToObj(host -> RoceGid.ipv4(LOOPBACK | host))
                .toList();
    }

    static NetworkFaults faults() {
        return NetworkFaults.seeded(number("seed", "0"))
                .loss(probability("loss"))
                .duplication(probability("duplication"))
                .reordering(probability("reordering"))
                .corruption(probability("corruption"))
                .delay(probability("delay"), lateness());
    }

    /**
     * Returns true if packets between devices of this user's processes may pass through shared
     * memory.
     */
    static boolean sharesMemory() {
        var value = System.getProperty(PREFIX + "sharedmemory", "on");
        return switch (value) {
            case "on" -> true;
            case "off" -> false;
            default -> throw invalid("sharedmemory", value, "is neither \"on\" nor \"off\"");
        };
    }

    private static double probability(String name) {
        var value = System.getProperty(PREFIX + name, "0");
        var probability = Double.NaN;
        try {
            probability = Double.parseDouble(value);
        } catch (NumberFormatException e) {
            // NaN fails the check below.
        }
        if (!(probability >= 0 && probability <= 1)) {
            throw invalid(name, value, "is not a probability between 0 and 1");
        }
        return probability;
    }

    private static Duration lateness() {
        var millis = number("lateness", "1");
        if (millis < 0) {
            throw invalid("lateness", Long.toString(millis), "must not be negative");
        }
        return Duration.ofMillis(millis);
    }

    private static long number(String name, String defaultValue) {
        var value = System.getProperty(PREFIX + name, defaultValue);
        try {
            return Long.decode(value);
        } catch (NumberFormatException e) {
            throw invalid(name, value, "is not an integer");
        }
    }

    private static IllegalArgumentException invalid(String name, String value, String reason) {
        return new IllegalArgumentException(
                "%s%s: \"%s\" %s".formatted(PREFIX, name, value, reason));
    }
}
