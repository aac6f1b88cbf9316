package org.jrdma.volume.net;

import org.jrdma.volume.model.VolumeException;

/** Thrown if the peer violates the protocol. */
final class ProtocolException extends VolumeException {

    private static final long serialVersionUID = 1L;

    ProtocolException(String message) {
        super(message);
    }
}
