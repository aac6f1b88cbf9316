package org.jrdma.volume.client;

import org.jrdma.volume.model.VolumeException;

/** Thrown if a data server did not reply. It may still execute the request. */
final class MissingReplyException extends VolumeException {

    private static final long serialVersionUID = 1L;

    MissingReplyException(Exception cause) {
        super(String.valueOf(cause.getMessage()), cause);
    }
}
