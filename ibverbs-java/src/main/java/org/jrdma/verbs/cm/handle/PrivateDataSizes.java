package org.jrdma.verbs.cm.handle;

/**
 * The sizes of the private data fields of connection manager messages.
 *
 * <p>On RoCE and InfiniBand, the kernel rejects longer data with EINVAL. On iWARP, the field has
 * 256 bytes, of which drivers reserve some: siw accepts 249 bytes and silently drops a message with
 * 252.
 */
public enum PrivateDataSizes {
    /** The private data of a connect request, or of a request for a datagram service. */
    REQUEST("request", 56, 180),
    /** The private data of a reply that accepts a request. */
    REPLY("reply", 196, 136),
    /** The private data of a rejection. */
    REJECTION("rejection", 148, 136);

    private static final int IWARP_BYTES = 248;

    private final String message;
    private final int connectionBytes;
    private final int datagramBytes;

    PrivateDataSizes(String message, int connectionBytes, int datagramBytes) {
        this.message = message;
        this.connectionBytes = connectionBytes;
        this.datagramBytes = datagramBytes;
    }

    /** Returns the size of the field. */
    public int bytes(boolean isDatagram, boolean isIwarp) {
        return isIwarp ? IWARP_BYTES : isDatagram ? datagramBytes : connectionBytes;
    }

    /**
     * Checks a length.
     *
     * @param sender the sender of the message
     * @throws IllegalArgumentException if {@code length} exceeds {@code max}
     */
    public void check(Object sender, int length, int max) {
        if (length > max) {
            throw new IllegalArgumentException(
                    "The private data of a %s of %s has %d bytes; the maximum is %d"
                            .formatted(message, sender, length, max));
        }
    }
}
