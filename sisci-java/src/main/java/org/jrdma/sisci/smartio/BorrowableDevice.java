package org.jrdma.sisci.smartio;

/**
 * A device that a node lends. Only the id of a device can be read: the structure of the query for
 * its other properties is not publicly documented. To find devices by their properties, use a
 * {@link DeviceFilter}.
 *
 * @param id the fabric device id, an unsigned number of 64 bits that is unique in the fabric
 */
public record BorrowableDevice(long id) {

    /** Returns the id in hexadecimal, such as {@code device 0x401}. */
    @Override
    public String toString() {
        return "device 0x" + Long.toHexString(id);
    }
}
