package org.jrdma.volume.model;

import org.jrdma.ffi.FabricException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a volume, one of its drives, or a connection between its nodes rejects or fails an
 * operation.
 */
public class VolumeException extends FabricException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception for a failure that has no other exception as its cause. */
    public VolumeException(String message) {
        super(message);
    }

    /** Creates an exception for a failure that has a cause. */
    public VolumeException(String message, @Nullable Throwable cause) {
        super(message, 0, cause);
    }
}
