package org.jrdma.soft.sisci.device;

import java.util.regex.Pattern;

/**
 * The identity of a PCIe device, as its configuration space states it.
 *
 * @param vendorId the id of the vendor, 16 bits
 * @param deviceId the id of the device, 16 bits
 * @param classCode the class, subclass and programming interface, 24 bits; 0x010802 for NVMe
 * @param subsystemVendorId the id of the vendor of the board, 16 bits
 * @param subsystemId the id of the board, 16 bits
 * @param serialNumber the serial number of the PCIe capability, 64 bits
 * @param name the name for people, at most 63 printable ASCII characters
 */
public record DeviceIdentity(
        int vendorId,
        int deviceId,
        int classCode,
        int subsystemVendorId,
        int subsystemId,
        long serialNumber,
        String name) {

    private static final Pattern NAME = Pattern.compile("[ -~]{0,63}");

    /**
     * Creates an identity.
     *
     * @throws IllegalArgumentException if an id has too many bits, or the name is invalid
     */
    public DeviceIdentity {
        check("vendor id", vendorId, 16);
        check("device id", deviceId, 16);
        check("class code", classCode, 24);
        check("subsystem vendor id", subsystemVendorId, 16);
        check("subsystem id", subsystemId, 16);
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "The name of a device has at most 63 printable ASCII characters, but this one has %d characters"
                            .formatted(name.length()));
        }
    }

    private static void check(String field, int value, int bits) {
        if (value >>> bits != 0) {
            throw new IllegalArgumentException(
                    "The %s 0x%x has more than %d bits".formatted(field, value, bits));
        }
    }
}
