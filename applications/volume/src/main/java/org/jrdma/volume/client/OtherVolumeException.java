package org.jrdma.volume.client;

import java.util.UUID;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/** Thrown if a coordinator has another volume than the client. */
final class OtherVolumeException extends VolumeException {

    private static final long serialVersionUID = 1L;

    OtherVolumeException(UUID own, UUID other) {
        super(
                Failure.INVALID,
                "The servers have the volume %s, but this client uses the volume %s. Is its drive that of the servers?"
                        .formatted(other, own));
    }
}
