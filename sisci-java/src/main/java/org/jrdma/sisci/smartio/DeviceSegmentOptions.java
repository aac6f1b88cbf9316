package org.jrdma.sisci.smartio;

import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jrdma.ffi.CheckReturnValue;

/**
 * The options of a new device segment. Immutable: each method with a parameter returns a changed
 * copy. In C: the arguments of {@code SCICreateDeviceSegment}.
 *
 * @param id the id by which borrowers connect
 * @param bytes the size in bytes; drivers may require a multiple of the page size
 * @param sharing the borrowers that can connect
 * @param access the expected accesses
 */
@CheckReturnValue
public record DeviceSegmentOptions(
        int id, long bytes, DeviceSegmentSharing sharing, Set<AccessHint> access) {

    /** Checks the arguments and copies the hints. */
    public DeviceSegmentOptions {
        if (bytes <= 0) {
            throw new IllegalArgumentException(
                    "Invalid segment size: " + bytes + ". A segment has at least one byte.");
        }
        Objects.requireNonNull(sharing);
        access = Set.copyOf(access);
    }

    /** Returns options for a private segment without access hints. */
    public static DeviceSegmentOptions of(int id, long bytes) {
        return new DeviceSegmentOptions(id, bytes, DeviceSegmentSharing.PRIVATE, Set.of());
    }

    /** Sets the borrowers that can connect. */
    public DeviceSegmentOptions sharing(DeviceSegmentSharing newSharing) {
        return new DeviceSegmentOptions(id, bytes, newSharing, access);
    }

    /** Adds expected accesses. */
    public DeviceSegmentOptions access(AccessHint... hints) {
        var all = EnumSet.noneOf(AccessHint.class);
        all.addAll(access);
        all.addAll(List.of(hints));
        return new DeviceSegmentOptions(id, bytes, sharing, all);
    }

    int accessBits() {
        return access.stream().mapToInt(AccessHint::bits).reduce(0, (left, right) -> left | right);
    }
}
