package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.StructureRegistry;

/**
 * The functions of a context for the data path: posting work requests, polling completions and
 * requesting completion events. They are called for each transfer, and return errors without
 * throwing exceptions where possible.
 */
final class DataPathFunctions {

    private DataPathFunctions() {}

    @Exported(value = "post_send", failure = ErrorConvention.ERRNO)
    static int postSend(long queuePair, long request, long failed) {
        return StructureRegistry.find(queuePair) instanceof QueuePairObject found
                ? found.postSend(request, failed)
                : Errno.EINVAL;
    }

    @Exported(value = "post_recv", failure = ErrorConvention.ERRNO)
    static int postReceive(long queuePair, long request, long failed) {
        return StructureRegistry.find(queuePair) instanceof QueuePairObject found
                ? found.postReceive(request, failed)
                : Errno.EINVAL;
    }

    @Exported(value = "post_srq_recv", failure = ErrorConvention.ERRNO)
    static int postSharedReceive(long sharedQueue, long request, long failed) {
        return StructureRegistry.find(sharedQueue) instanceof SharedReceiveQueueObject found
                ? found.post(request, failed)
                : Errno.EINVAL;
    }

    @Exported(value = "poll_cq", failure = ErrorConvention.MINUS_ONE)
    static int pollCompletions(long queue, int max, long target) {
        return max >= 0 && StructureRegistry.find(queue) instanceof CompletionQueueObject found
                ? found.poll(max, target)
                : -1;
    }

    @Exported(value = "req_notify_cq", failure = ErrorConvention.ERRNO)
    static int requestNotification(long queue, int solicitedOnly) {
        if (StructureRegistry.find(queue) instanceof CompletionQueueObject found) {
            found.requestNotification(solicitedOnly != 0);
            return 0;
        }
        return Errno.EINVAL;
    }
}
