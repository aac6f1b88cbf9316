package org.jrdma.verbs;

import java.util.OptionalInt;

/**
 * How one work request ended. In C: {@code struct ibv_wc}.
 *
 * @param status success, or what went wrong
 * @param kind what was completed; of no meaning unless {@code status} is success
 * @param bytes how many bytes arrived, for receives, reads and atomics
 * @param immediate the sender's immediate data, where a receive took some
 * @param vendorError the vendor's own code for a failure
 */
public record Completion(
        CompletionStatus status,
        CompletionKind kind,
        int bytes,
        OptionalInt immediate,
        int vendorError) {

    /** Whether it was done. */
    public boolean isSuccess() {
        return status == CompletionStatus.SUCCESS;
    }
}
