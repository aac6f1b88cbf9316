package org.jrdma.nvme.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;

/**
 * The description of a controller.
 *
 * @param vendorId the PCI id of the vendor
 * @param subsystemVendorId the PCI id of the vendor of the board
 * @param serialNumber the serial number, at most 20 characters
 * @param modelNumber the name of the model, at most 40 characters
 * @param firmware the revision of the firmware, at most 8 characters
 * @param sharing the ports and controllers of the subsystem (CMIC)
 * @param maxTransferShift the base two logarithm of the largest transfer in pages; 0 for no limit
 *     (MDTS)
 * @param controllerId the id of the controller within its subsystem
 * @param version the version of the specification
 * @param asyncEvents the optional asynchronous events, such as {@link #NAMESPACE_NOTICES} (OAES)
 * @param controllerAttributes attributes such as host identifiers of 128 bits (CTRATT)
 * @param adminCapabilities the optional admin commands (OACS)
 * @param abortLimit the number of abort commands that may be pending
 * @param asyncEventLimit the number of asynchronous event requests that may be pending
 * @param logAttributes attributes of log pages (LPA)
 * @param errorLogEntries the number of entries of the error log
 * @param namespaces the largest id of a namespace (NN)
 * @param nvmCapabilities the optional I/O commands (ONCS)
 * @param hasWriteCache true if the controller has a volatile write cache (VWC)
 * @param subsystemName the qualified name of the subsystem, at most 223 characters
 */
public record IdentifyController(
        int vendorId,
        int subsystemVendorId,
        String serialNumber,
        String modelNumber,
        String firmware,
        int sharing,
        int maxTransferShift,
        int controllerId,
        int version,
        int asyncEvents,
        int controllerAttributes,
        int adminCapabilities,
        int abortLimit,
        int asyncEventLimit,
        int logAttributes,
        int errorLogEntries,
        int namespaces,
        int nvmCapabilities,
        boolean hasWriteCache,
        String subsystemName) {

    /** The size of the data structure in bytes. */
    public static final int BYTES = 4096;

    /**
     * The bit of {@link #asyncEvents()}, and of the feature that enables the events, for changes of
     * namespaces.
     */
    public static final int NAMESPACE_NOTICES = 1 << 8;

    /** The bit of {@link #nvmCapabilities()} for dataset management. */
    public static final int DATASET_MANAGEMENT = 1 << 2;

    /** The bit of {@link #nvmCapabilities()} for write zeroes. */
    public static final int WRITE_ZEROES = 1 << 3;

    /** The bit of {@link #nvmCapabilities()} for the select field of Get Features. */
    public static final int FEATURE_SELECTION = 1 << 4;

    /** The bit of {@link #nvmCapabilities()} for reservations. */
    public static final int RESERVATIONS = 1 << 5;

    private static final int IO_CONTROLLER = 1;
    private static final int ENTRY_SIZES_OFFSET = 512;
    private static final int COMMAND_SIZES = 0x66;
    private static final int COMPLETION_SIZES = 0x44;
    private static final int NAME_BYTES = 224;

    /** One slot for firmware, which cannot be written. */
    private static final int ONE_FIRMWARE_SLOT = 1 << 1 | 1;

    private static final int FLUSH_OF_ALL_NAMESPACES = 3 << 1;

    /** Decodes the data structure. */
    public static IdentifyController decode(MemorySegment data) {
        return new IdentifyController(
                Fields.unsignedShort(data, 0),
                Fields.unsignedShort(data, 2),
                Fields.text(data, 4, 20),
                Fields.text(data, 24, 40),
                Fields.text(data, 64, 8),
                Fields.unsignedByte(data, 76),
                Fields.unsignedByte(data, 77),
                Fields.unsignedShort(data, 78),
                data.get(Fields.INT, 80),
                data.get(Fields.INT, 92),
                data.get(Fields.INT, 96),
                Fields.unsignedShort(data, 256),
                Fields.unsignedByte(data, 258) + 1,
                Fields.unsignedByte(data, 259) + 1,
                Fields.unsignedByte(data, 261),
                Fields.unsignedByte(data, 262) + 1,
                data.get(Fields.INT, 516),
                Fields.unsignedShort(data, 520),
                (Fields.unsignedByte(data, 525) & 1) != 0,
                Fields.text(data, 768, NAME_BYTES));
    }

    /** Encodes the data structure into zeroed memory. */
    public void encode(MemorySegment data) {
        Fields.putShort(data, 0, vendorId);
        Fields.putShort(data, 2, subsystemVendorId);
        Fields.putText(data, 4, 20, serialNumber);
        Fields.putText(data, 24, 40, modelNumber);
        Fields.putText(data, 64, 8, firmware);
        Fields.putByte(data, 76, sharing);
        Fields.putByte(data, 77, maxTransferShift);
        Fields.putShort(data, 78, controllerId);
        data.set(Fields.INT, 80, version);
        data.set(Fields.INT, 92, asyncEvents);
        data.set(Fields.INT, 96, controllerAttributes);
        Fields.putByte(data, 111, IO_CONTROLLER);
        Fields.putShort(data, 256, adminCapabilities);
        Fields.putByte(data, 258, abortLimit - 1);
        Fields.putByte(data, 259, asyncEventLimit - 1);
        Fields.putByte(data, 260, ONE_FIRMWARE_SLOT);
        Fields.putByte(data, 261, logAttributes);
        Fields.putByte(data, 262, errorLogEntries - 1);
        Fields.putByte(data, ENTRY_SIZES_OFFSET, COMMAND_SIZES);
        Fields.putByte(data, ENTRY_SIZES_OFFSET + 1, COMPLETION_SIZES);
        data.set(Fields.INT, 516, namespaces);
        Fields.putShort(data, 520, nvmCapabilities);
        Fields.putByte(data, 525, FLUSH_OF_ALL_NAMESPACES | (hasWriteCache ? 1 : 0));
        data.setString(768, subsystemName, UTF_8);
    }
}
