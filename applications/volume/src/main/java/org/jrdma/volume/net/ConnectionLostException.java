package org.jrdma.volume.net;

import org.jrdma.volume.model.VolumeException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a connection has ended. The peer may have executed a call that fails with this
 * exception, or part of it.
 */
public final class ConnectionLostException extends VolumeException {

    private static final long serialVersionUID = 1L;

    ConnectionLostException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
