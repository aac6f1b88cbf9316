package org.jrdma.verbs.model;

import org.jrdma.ffi.FabricException;

/** Thrown if an operation was posted successfully, but its completion reports a failure. */
public final class TransferException extends FabricException {

    private static final long serialVersionUID = 1L;

    private final transient Completion completion;

    /**
     * Creates an exception.
     *
     * @param operation the kind of the operation
     * @param queuePair the name of the queue pair
     */
    public TransferException(String operation, String queuePair, Completion completion) {
        super(
                "%s on %s failed: %s, that is, %s%s"
                        .formatted(
                                operation,
                                queuePair,
                                completion.status(),
                                completion.status().meaning(),
                                completion.vendorError() == 0
                                        ? ""
                                        : " (vendor error 0x%x)"
                                                .formatted(completion.vendorError())));
        this.completion = completion;
    }

    /** The completion of the operation. */
    public Completion completion() {
        return completion;
    }
}
