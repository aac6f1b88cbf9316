package org.jrdma.nvme.soft;

import org.jrdma.nvme.model.Status;

/** Thrown to end a command with a status. Has no stack trace, because drivers cause it. */
final class CommandException extends Exception {

    private static final long serialVersionUID = 1L;

    private final Status status;

    CommandException(Status status) {
        super(status.name(), null, false, false);
        this.status = status;
    }

    Status status() {
        return status;
    }

    /** Throws an exception with the status unless the condition is true. */
    static void require(boolean condition, Status status) throws CommandException {
        if (!condition) {
            throw new CommandException(status);
        }
    }
}
