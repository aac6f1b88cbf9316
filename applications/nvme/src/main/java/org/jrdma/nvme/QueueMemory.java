package org.jrdma.nvme;

import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.Configuration;

/**
 * The memory of a queue pair.
 *
 * @param submissionAddress the I/O address of the submission queue
 * @param submissionEntries the number of entries of the submission queue
 * @param completionAddress the I/O address of the completion queue
 * @param completionEntries the number of entries of the completion queue
 */
record QueueMemory(
        long submissionAddress,
        int submissionEntries,
        long completionAddress,
        int completionEntries) {

    private static final int MIN_ENTRIES = 2;

    /** A range of I/O addresses. */
    private record Range(long address, long bytes) {

        boolean isValid() {
            return address != 0
                    && address % Configuration.PAGE_BYTES == 0
                    && Long.compareUnsigned(address + bytes - 1, address) > 0;
        }

        boolean overlaps(Range other) {
            return Long.compareUnsigned(other.address - address, bytes) < 0
                    || Long.compareUnsigned(address - other.address, other.bytes) < 0;
        }
    }

    private Range submissions() {
        return new Range(submissionAddress, (long) submissionEntries * Command.BYTES);
    }

    private Range completions() {
        return new Range(completionAddress, (long) completionEntries * Completion.BYTES);
    }

    /** Returns true if the sizes and addresses are possible, and the two queues do not overlap. */
    boolean isValid(int maxEntries) {
        return submissionEntries >= MIN_ENTRIES
                && submissionEntries <= maxEntries
                && completionEntries >= MIN_ENTRIES
                && completionEntries <= maxEntries
                && submissions().isValid()
                && completions().isValid()
                && !submissions().overlaps(completions());
    }

    /** Returns true if a queue of this pair overlaps a queue of another pair. Both are valid. */
    boolean overlaps(QueueMemory other) {
        return submissions().overlaps(other.submissions())
                || submissions().overlaps(other.completions())
                || completions().overlaps(other.submissions())
                || completions().overlaps(other.completions());
    }

    /** Returns true if a queue overlaps memory of a controller's owner. */
    boolean overlapsMemoryOf(AbstractController controller) {
        return controller.ownsMemoryIn(submissionAddress, submissions().bytes())
                || controller.ownsMemoryIn(completionAddress, completions().bytes());
    }
}
