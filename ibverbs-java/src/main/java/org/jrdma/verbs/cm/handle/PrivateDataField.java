package org.jrdma.verbs.cm.handle;

/**
 * The private data fields of the connection manager's messages, with their sizes.
 *
 * <p>On RoCE and InfiniBand the kernel rejects longer data with EINVAL and no further explanation.
 * On iWARP the field has 256 bytes, of which a driver may use some itself: siw takes 249 bytes, and
 * drops a message with 252.
 */
public enum PrivateDataField {
    /** The private data of a connect request, or of a request for the destination of datagrams. */
    REQUEST("A request", 56, 180),
    /** The private data of an accepting reply. */
    REPLY("A reply", 196, 136),
    /** The private data of a rejection. */
    REJECTION("A refusal", 148, 136);

    private static final int IWARP_BYTES = 248;

    private final String message;
    private final int connectionBytes;
    private final int datagramBytes;

    PrivateDataField(String message, int connectionBytes, int datagramBytes) {
        this.message = message;
        this.connectionBytes = connectionBytes;
        this.datagramBytes = datagramBytes;
    }

    /** The size of the field in a message about datagrams or about a connection. */
    public int bytes(boolean ofDatagrams, boolean isWarp) {
        return isWarp ? IWARP_BYTES : ofDatagrams ? datagramBytes : connectionBytes;
    }

    /**
     * Checks a length.
     *
     * @param owner the object that sends the message
     * @throws IllegalArgumentException if {@code length} is above {@code most}
     */
    public void check(Object owner, int length, int most) {
        if (length > most) {
            throw new IllegalArgumentException(
                    "%s of %s has room for %d bytes of private data, not %d"
                            .formatted(message, owner, most, length));
        }
    }
}
