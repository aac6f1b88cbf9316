package org.jrdma.sisci;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.sisci.internal.SisciConstant;

/**
 * The part of a segment to map, and the kind of map. Immutable: {@link #with} returns a changed
 * copy.
 *
 * @param offset the offset in bytes of the part in the segment
 * @param bytes the size of the part in bytes; {@link #TO_THE_END} for the rest of the segment
 * @param flags the properties of the map
 */
@CheckReturnValue
public record MapOptions(long offset, long bytes, Set<Flag> flags) {

    /** The value of {@link #bytes()} that extends the map to the end of the segment. */
    public static final long TO_THE_END = -1;

    /** Options that map the whole segment for loads and stores. */
    public static final MapOptions WHOLE = new MapOptions(0, TO_THE_END, Set.of());

    /** A property of a map. */
    public enum Flag {
        /** The map can only be read. In C: {@code SCI_FLAG_READONLY_MAP}. */
        READ_ONLY(SisciConstant.SCI_FLAG_READONLY_MAP),
        /**
         * Each load and store is executed individually and in order, as registers of a device
         * require. In C: {@code SCI_FLAG_IO_MAP_IOSPACE}.
         */
        UNCACHED(SisciConstant.SCI_FLAG_IO_MAP_IOSPACE),
        /**
         * The map accesses the segment through the adapter even if it is a segment of this node. In
         * C: {@code SCI_FLAG_NO_MEMORY_LOOPBACK}.
         */
        NO_LOOPBACK(SisciConstant.SCI_FLAG_NO_MEMORY_LOOPBACK),
        /** In C: {@code SCI_FLAG_WRITE_BACK_CACHE_MAP}. */
        WRITE_BACK_CACHE(SisciConstant.SCI_FLAG_WRITE_BACK_CACHE_MAP),
        /** In C: {@code SCI_FLAG_SHARED_MAP}. */
        SHARED(SisciConstant.SCI_FLAG_SHARED_MAP),
        /**
         * A store to the offset of an {@link InterruptFlag} interrupts the peer that registered the
         * flag. The flag must not be conditional. In C: {@code
         * SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP}.
         */
        INTERRUPT(SisciConstant.SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP),
        /**
         * A store increments the value at its target offset, and interrupts the peer if the value
         * was zero. The peer must have registered a conditional {@link InterruptFlag} at this
         * offset. In C: {@code SCI_FLAG_CONDITIONAL_INTERRUPT_MAP}.
         */
        CONDITIONAL_INTERRUPT(SisciConstant.SCI_FLAG_CONDITIONAL_INTERRUPT_MAP);

        private final SisciConstant constant;

        Flag(SisciConstant constant) {
            this.constant = constant;
        }
    }

    /** Checks the range and copies the flags. */
    public MapOptions {
        if (offset < 0 || bytes < TO_THE_END || bytes == 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "Invalid part of a segment: %,d bytes at offset %,d",
                            bytes,
                            offset));
        }
        flags = Set.copyOf(flags);
    }

    /** Returns options that map a part of a segment for loads and stores. */
    public static MapOptions part(long offset, long bytes) {
        return new MapOptions(offset, bytes, Set.of());
    }

    /** Returns a copy of these options with an additional flag. */
    public MapOptions with(Flag flag) {
        var newFlags = EnumSet.of(flag);
        newFlags.addAll(flags);
        return new MapOptions(offset, bytes, newFlags);
    }

    boolean has(Flag flag) {
        return flags.contains(flag);
    }

    Stream<SisciConstant> constants() {
        return flags.stream().map(flag -> flag.constant);
    }

    /**
     * Returns the size in bytes of the part to map, for a segment of the given size.
     *
     * @throws IndexOutOfBoundsException if the part is not within the segment
     */
    long bytesOf(long segmentBytes) {
        var partBytes = bytes == TO_THE_END ? segmentBytes - offset : bytes;
        if (partBytes <= 0 || offset > segmentBytes - partBytes) {
            throw new IndexOutOfBoundsException(
                    String.format(
                            Locale.ROOT,
                            "Cannot map %,d bytes at offset %,d: the segment has %,d bytes",
                            partBytes,
                            offset,
                            segmentBytes));
        }
        return partBytes;
    }
}
