package org.jrdma.sisci;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jrdma.sisci.internal.Constant;

/**
 * Which part of a segment to map, and how. Immutable.
 *
 * @param offset where the part begins
 * @param bytes how long it is; {@link #TO_THE_END} for all that follows
 * @param flags how
 */
public record MapOptions(long offset, long bytes, Set<Flag> flags) {

    /** For {@link #bytes()}. */
    public static final long TO_THE_END = -1;

    /** The whole segment, for loads and stores. */
    public static final MapOptions WHOLE = new MapOptions(0, TO_THE_END, Set.of());

    /** How a segment can be mapped. */
    public enum Flag {
        /** Stores are refused. In C: {@code SCI_FLAG_READONLY_MAP}. */
        READ_ONLY(Constant.SCI_FLAG_READONLY_MAP),
        /**
         * Each load and store is one of its own, in order, as the registers of a device want it. In
         * C: {@code SCI_FLAG_IO_MAP_IOSPACE}.
         */
        UNCACHED(Constant.SCI_FLAG_IO_MAP_IOSPACE),
        /**
         * A segment of this node is reached through the adapter too. In C: {@code
         * SCI_FLAG_NO_MEMORY_LOOPBACK}.
         */
        NO_LOOPBACK(Constant.SCI_FLAG_NO_MEMORY_LOOPBACK),
        /** In C: {@code SCI_FLAG_WRITE_BACK_CACHE_MAP}. */
        WRITE_BACK_CACHE(Constant.SCI_FLAG_WRITE_BACK_CACHE_MAP),
        /** In C: {@code SCI_FLAG_SHARED_MAP}. */
        SHARED(Constant.SCI_FLAG_SHARED_MAP),
        /**
         * A store interrupts the peer, where it has made an {@link InterruptFlag} that is not
         * conditional. In C: {@code SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP}.
         */
        INTERRUPT(Constant.SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP),
        /**
         * A store adds one to what is there, and interrupts the peer if that was zero, where the
         * peer has made a conditional {@link InterruptFlag}. In C: {@code
         * SCI_FLAG_CONDITIONAL_INTERRUPT_MAP}.
         */
        CONDITIONAL_INTERRUPT(Constant.SCI_FLAG_CONDITIONAL_INTERRUPT_MAP);

        private final Constant constant;

        Flag(Constant constant) {
            this.constant = constant;
        }
    }

    /** Checks, and keeps a copy of the flags. */
    public MapOptions {
        if (offset < 0 || bytes < TO_THE_END || bytes == 0) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "%,d bytes from %,d on", bytes, offset));
        }
        flags = Set.copyOf(flags);
    }

    /** A part of a segment. */
    public static MapOptions part(long offset, long bytes) {
        return new MapOptions(offset, bytes, Set.of());
    }

    /** The same in another way. */
    public MapOptions with(Flag flag) {
        var more = EnumSet.of(flag);
        more.addAll(flags);
        return new MapOptions(offset, bytes, more);
    }

    boolean has(Flag flag) {
        return flags.contains(flag);
    }

    Stream<Constant> constants() {
        return flags.stream().map(flag -> flag.constant);
    }

    /**
     * How many bytes of a segment this is.
     *
     * @throws IndexOutOfBoundsException if it does not have them
     */
    long bytesOf(long segmentBytes) {
        var wanted = bytes == TO_THE_END ? segmentBytes - offset : bytes;
        if (wanted <= 0 || offset > segmentBytes - wanted) {
            throw new IndexOutOfBoundsException(
                    String.format(
                            Locale.ROOT,
                            "%,d bytes from %,d on, of a segment of %,d",
                            wanted,
                            offset,
                            segmentBytes));
        }
        return wanted;
    }
}
