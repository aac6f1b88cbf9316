package org.jrdma.nvme;

import java.util.Optional;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Status;

/**
 * Thrown if a command fails, or if the controller itself fails. {@link #code()} is the status code
 * type and the status code of the command, or 0 if the controller failed.
 */
public final class NvmeException extends FabricException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception for a failure of the controller. */
    public NvmeException(String message) {
        super(message);
    }

    /** Creates an exception for a command that failed, with a message of its own. */
    NvmeException(String message, int status) {
        super(message, status & Status.CODE_MASK, null);
    }

    /**
     * Creates an exception for a command that failed.
     *
     * @param command the command with its values, such as {@code read of 8 blocks from block 5}
     * @param controller the name of the controller
     * @param status the status of the completion
     */
    public NvmeException(String command, String controller, int status) {
        super(
                "%s failed on %s: %s.%s"
                        .formatted(
                                command,
                                controller,
                                Status.describe(status),
                                Status.isRetryUseless(status) ? "" : " A retry may succeed."),
                status & Status.CODE_MASK,
                null);
    }

    /** Returns the status of the command; empty if it is unknown, or the controller failed. */
    public Optional<Status> status() {
        return code() == 0 ? Optional.empty() : Status.of(code());
    }
}
