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

    /** True if {@link #code()} is the status of a fabrics command. */
    private final boolean isFabrics;

    /** Creates an exception for a failure of the controller. */
    public NvmeException(String message) {
        this(message, 0);
    }

    /** Creates an exception for a command that failed, with a message of its own. */
    NvmeException(String message, int status) {
        this(message, status, false);
    }

    private NvmeException(String message, int status, boolean isFabrics) {
        super(message, status & Status.CODE_MASK, null);
        this.isFabrics = isFabrics;
    }

    /**
     * Creates an exception for a command that failed.
     *
     * @param command the command with its values, such as {@code read of 8 blocks from block 5}
     * @param controller the name of the controller
     * @param status the status of the completion
     */
    public NvmeException(String command, String controller, int status) {
        this(describe(command, controller, Status.describe(status), status), status, false);
    }

    /** Returns an exception for a fabrics command that failed. */
    static NvmeException ofFabrics(String command, String controller, int status) {
        return new NvmeException(
                describe(command, controller, Status.describeFabrics(status), status),
                status,
                true);
    }

    private static String describe(String command, String controller, String words, int status) {
        return "%s failed on %s: %s.%s"
                .formatted(
                        command,
                        controller,
                        words,
                        Status.isRetryUseless(status) ? "" : " A retry may succeed.");
    }

    /** Returns the status of the command; empty if it is unknown, or the controller failed. */
    public Optional<Status> status() {
        if (code() == 0) {
            return Optional.empty();
        }
        return isFabrics ? Status.ofFabrics(code()) : Status.of(code());
    }
}
