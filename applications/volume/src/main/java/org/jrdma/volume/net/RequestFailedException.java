package org.jrdma.volume.net;

import org.jrdma.volume.model.VolumeException;

/** Thrown if the peer's handler failed. The message is that of the peer's exception. */
public final class RequestFailedException extends VolumeException {

    private static final long serialVersionUID = 1L;

    RequestFailedException(String message) {
        super(message);
    }
}
