package org.jrdma.sisci.smartio;

import java.util.ArrayList;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.ffi.linkage.FieldRangeChecks;

/**
 * Selects devices by the identification in their PCI configuration space. Immutable: each method
 * with a parameter returns a changed copy. In C: {@code sci_smartio_device_info_t}.
 *
 * @param vendor the vendor id, or 0 for any vendor
 * @param device the device id, or 0 for any device
 * @param classCode the class code, or 0 for any class
 */
@CheckReturnValue
public record DeviceFilter(int vendor, int device, int classCode) {

    /** The filter that selects all devices. */
    public static final DeviceFilter ANY = new DeviceFilter(0, 0, 0);

    /** Checks the ranges: 16 bits for vendor and device, 24 bits for the class code. */
    public DeviceFilter {
        FieldRangeChecks.check("vendor id", (long) vendor, 0, 0xffff);
        FieldRangeChecks.check("device id", (long) device, 0, 0xffff);
        FieldRangeChecks.check("class code", (long) classCode, 0, 0xff_ffff);
    }

    /** Selects the devices of a vendor. */
    public DeviceFilter vendor(int id) {
        return new DeviceFilter(id, device, classCode);
    }

    /** Selects the devices with a device id. */
    public DeviceFilter device(int id) {
        return new DeviceFilter(vendor, id, classCode);
    }

    /**
     * Selects the devices of a class.
     *
     * @param code base class, subclass and programming interface, for example 0x010802 for NVMe
     */
    public DeviceFilter classCode(int code) {
        return new DeviceFilter(vendor, device, code);
    }

    /** Returns the selected values in hexadecimal. */
    @Override
    public String toString() {
        var parts = new ArrayList<String>();
        if (vendor != 0) {
            parts.add("vendor 0x%04x".formatted(vendor));
        }
        if (device != 0) {
            parts.add("device 0x%04x".formatted(device));
        }
        if (classCode != 0) {
            parts.add("class 0x%06x".formatted(classCode));
        }
        return parts.isEmpty() ? "any device" : String.join(", ", parts);
    }
}
