package org.jrdma.verbs.cm.model;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * Bytes that a peer's program sent with a message of the connection manager.
 *
 * <p>RoCE and InfiniBand transfer no length: the data arrives padded with zeros to the size of the
 * message's private data field (56 bytes in a request, 196 in a reply, 148 in a rejection; 180 and
 * 136 in the messages for datagrams). A program that needs the length sends it as a part of the
 * data. iWARP keeps the length.
 */
public final class PrivateData {

    private static final PrivateData NONE = new PrivateData();

    private final byte[] bytes;

    private PrivateData(byte... bytes) {
        this.bytes = bytes;
    }

    /** Returns private data with a copy of these bytes. */
    public static PrivateData of(byte... bytes) {
        return bytes.length == 0 ? NONE : new PrivateData(bytes.clone());
    }

    /** Returns a copy of the bytes as they arrived, with padding. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** The number of bytes that arrived; on RoCE and InfiniBand, the size of the field. */
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
