package org.jrdma.volume.model;

/**
 * Thrown if an access with memory of a drive has failed, and the drive may still access the memory:
 * it neither completes its commands nor stops them. The program must not use the memory any more.
 */
public final class BufferInUseException extends VolumeException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception for a drive that does not respond. */
    public BufferInUseException(String drive, Throwable cause) {
        super(
                "%s does not respond, and may still access the buffer. Do not use the buffer any more."
                        .formatted(drive),
                cause);
    }
}
