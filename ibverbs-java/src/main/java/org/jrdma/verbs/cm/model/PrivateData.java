package org.jrdma.verbs.cm.model;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * Application data that a peer's program sent with a message of the connection manager.
 *
 * <p>On RoCE and InfiniBand, the messages do not contain the length of the data. The data arrives
 * padded with zeros to the size of the message field: 56 bytes in a connect request, 196 in a reply
 * and 148 in a rejection; 180 bytes in a request for a datagram service and 136 in its answer. A
 * program that needs the length must include it in the data. On iWARP, the length is preserved.
 */
public final class PrivateData {

    private static final PrivateData EMPTY = new PrivateData();

    private final byte[] bytes;

    private PrivateData(byte... bytes) {
        this.bytes = bytes;
    }

    /** Returns private data with a copy of the given bytes. */
    public static PrivateData of(byte... bytes) {
        return bytes.length == 0 ? EMPTY : new PrivateData(bytes.clone());
    }

    /** Returns a copy of the received bytes, including padding. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** The number of received bytes, including padding. */
    public int length() {
        return bytes.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PrivateData data && Arrays.equals(bytes, data.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Returns the bytes in hexadecimal. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
