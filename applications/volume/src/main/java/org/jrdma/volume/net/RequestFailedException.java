package org.jrdma.volume.net;

import org.jrdma.volume.model.VolumeException;

/** Thrown if the request handler of the peer failed. Has the message of the remote exception. */
public final class RequestFailedException extends VolumeException {

    private static final long serialVersionUID = 1L;

    RequestFailedException(String message) {
        super(message);
    }
}
