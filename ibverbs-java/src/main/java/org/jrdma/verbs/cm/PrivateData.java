package org.jrdma.verbs.cm;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * What a peer's program sent along with a message of the connection manager.
 *
 * <p>RoCE and InfiniBand have no length for it: it is padded with zeros to the room that the
 * message has (56 bytes in a request, 196 in a reply, 148 in a refusal; of datagrams 180 and 136).
 * A program that needs the length sends it. iWARP keeps it.
 */
public final class PrivateData {

    private static final PrivateData NONE = new PrivateData();

    private final byte[] bytes;

    private PrivateData(byte... bytes) {
        this.bytes = bytes;
    }

    /** These bytes. */
    public static PrivateData of(byte... bytes) {
        return bytes.length == 0 ? NONE : new PrivateData(bytes.clone());
    }

    /** As it arrived, with its padding. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** How many bytes arrived; on RoCE and InfiniBand, the room that there was. */
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

    /** In hexadecimal. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
