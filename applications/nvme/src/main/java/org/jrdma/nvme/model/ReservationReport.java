package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The registrants and the reservation of a namespace.
 *
 * @param generation a counter of changes of registrations
 * @param type the type of the reservation; empty if there is none
 * @param registrants the registered hosts
 */
public record ReservationReport(
        int generation, Optional<ReservationType> type, List<Registrant> registrants) {

    /**
     * A registered host.
     *
     * @param controllerId the controller by which the host registered
     * @param isHolder true if the host holds the reservation
     * @param host the identifier of the host
     * @param key the registered key
     */
    public record Registrant(int controllerId, boolean isHolder, HostIdentifier host, long key) {}

    /** The size of the header in bytes if host identifiers have 64 bits. */
    public static final int HEADER_BYTES = 24;

    /** The size of the header in bytes if host identifiers have 128 bits. */
    public static final int EXTENDED_HEADER_BYTES = 64;

    private static final int REGISTRANT_BYTES = 24;
    private static final int EXTENDED_REGISTRANT_BYTES = 64;

    /**
     * Decodes the data structure. Registrants that do not fit in the memory are omitted.
     *
     * @param isExtended true if host identifiers have 128 bits
     */
    public static ReservationReport decode(MemorySegment data, boolean isExtended) {
        var registrants = new ArrayList<Registrant>();
        var count = Fields.unsignedShort(data, 5);
        var bytes = isExtended ? EXTENDED_REGISTRANT_BYTES : REGISTRANT_BYTES;
        var offset = (long) (isExtended ? EXTENDED_HEADER_BYTES : HEADER_BYTES);
        for (var i = 0; i < count && offset + bytes <= data.byteSize(); i++, offset += bytes) {
            var entry = data.asSlice(offset, bytes);
            registrants.add(
                    new Registrant(
                            Fields.unsignedShort(entry, 0),
                            (Fields.unsignedByte(entry, 2) & 1) != 0,
                            HostIdentifier.decode(entry.asSlice(isExtended ? 16 : 8), isExtended),
                            entry.get(Fields.LONG, isExtended ? 8 : 16)));
        }
        return new ReservationReport(
                data.get(Fields.INT, 0),
                ReservationType.of(Fields.unsignedByte(data, 4)),
                List.copyOf(registrants));
    }

    /** Returns the size of the encoded data structure in bytes. */
    public int bytes(boolean isExtended) {
        return isExtended
                ? EXTENDED_HEADER_BYTES + registrants.size() * EXTENDED_REGISTRANT_BYTES
                : HEADER_BYTES + registrants.size() * REGISTRANT_BYTES;
    }

    /** Encodes the data structure into zeroed memory of the size that {@link #bytes} returns. */
    public void encode(MemorySegment data, boolean isExtended) {
        data.set(Fields.INT, 0, generation);
        Fields.putByte(data, 4, type.map(ReservationType::code).orElse(0));
        Fields.putShort(data, 5, registrants.size());
        var offset = (long) (isExtended ? EXTENDED_HEADER_BYTES : HEADER_BYTES);
        for (var registrant : registrants) {
            var bytes = isExtended ? EXTENDED_REGISTRANT_BYTES : REGISTRANT_BYTES;
            var entry = data.asSlice(offset, bytes);
            Fields.putShort(entry, 0, registrant.controllerId());
            Fields.putByte(entry, 2, registrant.isHolder() ? 1 : 0);
            registrant.host().encode(entry.asSlice(isExtended ? 16 : 8));
            entry.set(Fields.LONG, isExtended ? 8 : 16, registrant.key());
            offset += bytes;
        }
    }
}
