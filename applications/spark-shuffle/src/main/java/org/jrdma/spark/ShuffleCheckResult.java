package org.jrdma.spark;

import java.util.Optional;

/**
 * The result of {@link ShuffleCheck}.
 *
 * @param written the records before the shuffle
 * @param read the records after the shuffle
 */
record ShuffleCheckResult(RecordDigest written, RecordDigest read, RdmaReadCountComparison reads) {

    /** Returns why the check has failed; empty if it has succeeded. */
    Optional<String> objection() {
        return read.equals(written)
                ? reads.objection()
                : Optional.of(
                        "The shuffle has changed the data: %s were written, but %s were read."
                                .formatted(written, read));
    }
}
