package org.jrdma.volume.model;

import org.jrdma.ffi.FabricException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a volume, one of its drives, or a connection between its nodes rejects or fails an
 * operation.
 */
public class VolumeException extends FabricException {

    private static final long serialVersionUID = 1L;

    private final Failure failure;

    /** Creates an exception for a failure that has no other exception as its cause. */
    public VolumeException(String message) {
        this(message, null);
    }

    /** Creates an exception for a failure that has a cause. */
    public VolumeException(String message, @Nullable Throwable cause) {
        super(message, 0, cause);
        this.failure = Failure.UNAVAILABLE;
    }

    /** Creates an exception for an operation that was rejected for a known reason. */
    public VolumeException(Failure failure, String message) {
        super(message);
        this.failure = failure;
    }

    /** Creates an exception for an operation that was rejected for a known reason and cause. */
    public VolumeException(Failure failure, String message, @Nullable Throwable cause) {
        super(message, 0, cause);
        this.failure = failure;
    }

    /** Returns the reason. */
    public final Failure failure() {
        return failure;
    }
}
