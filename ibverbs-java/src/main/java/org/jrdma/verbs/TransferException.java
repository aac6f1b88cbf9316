package org.jrdma.verbs;

import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.model.Completion;

/** Thrown if an operation was posted successfully, but its completion reports a failure. */
public final class TransferException extends FabricException {

    private static final long serialVersionUID = 1L;

    private final transient Completion completion;

    TransferException(String operation, String queuePair, Completion completion) {
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
