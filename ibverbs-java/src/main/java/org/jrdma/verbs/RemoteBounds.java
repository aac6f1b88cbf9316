package org.jrdma.verbs;

import java.util.Objects;

/** Checks that a peer could only answer with an error otherwise. */
final class RemoteBounds {

    private static final int ATOMIC_BYTES = Long.BYTES;

    private RemoteBounds() {}

    static void check(long offset, long length, RemoteMemory remote) {
        Objects.checkFromIndexSize(offset, length, remote.length());
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
