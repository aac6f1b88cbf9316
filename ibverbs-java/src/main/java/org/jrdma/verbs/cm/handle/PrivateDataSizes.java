package org.jrdma.verbs.cm.handle;

/**
 * The maximum sizes of the private data in the messages of the connection manager.
 *
 * <p>On RoCE and InfiniBand, the kernel rejects longer data with EINVAL. On iWARP, the field has
 * 256 bytes, but drivers reserve some of them. For example, siw accepts 249 bytes and silently
 * drops a message with 252 bytes.
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

    /**
     * Returns the maximum size of the private data in bytes.
     *
     * @param isDatagram true if the message belongs to a datagram service, false for a connection
     * @param isIwarp true if the device is an iWARP device
     */
    public int bytes(boolean isDatagram, boolean isIwarp) {
        return isIwarp ? IWARP_BYTES : isDatagram ? datagramBytes : connectionBytes;
    }

    /**
     * Checks the length of private data.
     *
     * @param sender the sender of the message, for the exception
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
