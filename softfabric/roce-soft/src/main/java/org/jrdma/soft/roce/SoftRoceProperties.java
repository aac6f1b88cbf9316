package org.jrdma.soft.roce;

import java.net.InetAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jrdma.soft.roce.abi.DeviceObject;
import org.jrdma.soft.roce.engine.Address;

/**
 * System properties that say which devices there are, and how bad their network is:
 *
 * <ul>
 *   <li>{@code jrdma.soft.devices}: addresses of this machine, with commas between; {@code soft0}
 *       is at the first.
 *   <li>{@code jrdma.soft.loss}, {@code duplication}, {@code reordering}, {@code corruption}: the
 *       probabilities of {@link Trouble}.
 *   <li>{@code jrdma.soft.delay}, {@code jrdma.soft.lateness}: how probable, and how many
 *       milliseconds.
 *   <li>{@code jrdma.soft.seed}: the seed of them all.
 * </ul>
 */
final class SoftRoceProperties {

    private static final String PREFIX = "jrdma.soft.";
    private static final int LOOPBACK = 127 << 24;
    private static final int LOOPBACK_ADDRESSES = 254;

    private SoftRoceProperties() {}

    static List<DeviceObject> devices() {
        var trouble = trouble();
        var devices = new ArrayList<DeviceObject>();
        for (var addresses : addresses()) {
            devices.add(
                    new DeviceObject(
                            "soft" + devices.size(), addresses, trouble, null, new SecureRandom()));
        }
        return devices;
    }

    private static List<List<Address>> addresses() {
        var wanted = System.getProperty(PREFIX + "devices");
        if (wanted == null) {
            return List.of(loopbackAddresses());
        }
        var addresses = new ArrayList<List<Address>>();
        for (var address : wanted.split(",", -1)) {
            try {
                addresses.add(List.of(Address.of(InetAddress.ofLiteral(address.strip()))));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "%sdevices: \"%s\" is not an address like 127.0.0.1 or ::1"
                                .formatted(PREFIX, address.strip()),
                        e);
            }
        }
        return addresses;
    }

    static List<Address> loopbackAddresses() {
        return IntStream.rangeClosed(1, LOOPBACK_ADDRESSES)
                .mapToObj(host -> Address.ipv4(LOOPBACK | host))
                .toList();
    }

    private static Trouble trouble() {
        return Trouble.seeded(Long.getLong(PREFIX + "seed", 0))
                .withLoss(probability("loss"))
                .withDuplication(probability("duplication"))
                .withReordering(probability("reordering"))
                .withCorruption(probability("corruption"))
                .withDelay(
                        probability("delay"),
                        Duration.ofMillis(Long.getLong(PREFIX + "lateness", 1)));
    }

    private static double probability(String name) {
        var value = System.getProperty(PREFIX + name, "0");
        try {
            return Double.parseDouble(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "%s%s: \"%s\" is not a number".formatted(PREFIX, name, value), e);
        }
    }
}
