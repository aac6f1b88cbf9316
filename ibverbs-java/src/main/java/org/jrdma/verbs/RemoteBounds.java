package org.jrdma.verbs;

import java.util.Locale;
import java.util.Objects;
import org.jrdma.verbs.model.RemoteMemory;

/** Checks that a peer could only answer with an error otherwise. */
final class RemoteBounds {

    private static final int ATOMIC_BYTES = Long.BYTES;
    private static final long MOST_FLUSHED = 0xffff_ffffL;

    private RemoteBounds() {}

    static void check(long offset, long length, RemoteMemory remote) {
        Objects.checkFromIndexSize(offset, length, remote.length());
    }

    /** Its length has 32 bits on the wire. */
    static void checkFlush(long offset, long length, RemoteMemory remote) {
        check(offset, length, remote);
        if (length > MOST_FLUSHED) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "A flush is of %,d bytes at most, or of the whole region, not of %,d",
                            MOST_FLUSHED,
                            length));
        }
    }

    static void checkAtomicResult(long bytes) {
        if (bytes != ATOMIC_BYTES) {
            throw new IllegalArgumentException("An atomic brings 8 bytes back, not " + bytes);
        }
    }

    static void checkAtomicTarget(long offset, RemoteMemory remote) {
        check(offset, ATOMIC_BYTES, remote);
        if ((remote.address() + offset) % ATOMIC_BYTES != 0) {
            throw new IllegalArgumentException(
                    "An atomic works on 8 bytes at a multiple of 8, not at %x"
                            .formatted(remote.address() + offset));
        }
    }
}
