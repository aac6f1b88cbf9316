package org.jrdma.volume.protocol;

import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.model.VolumeException;

/** The access to a file that a lease grants. The order is part of the protocol. */
public enum LeaseMode {
    /** No access. */
    NONE,
    /** Reads. Several sessions can have such leases. */
    READ,
    /** Reads and writes. Only one session can have a lease. */
    WRITE;

    /** Returns true if this mode includes another one. */
    public boolean includes(LeaseMode other) {
        return compareTo(other) >= 0;
    }

    /** Reads a mode. */
    public static LeaseMode decode(Decoder decoder) throws VolumeException {
        return decoder.readEnum(values());
    }
}
