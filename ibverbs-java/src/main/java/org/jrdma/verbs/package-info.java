/**
 * RDMA for Java, based on libibverbs.
 *
 * <p>{@link org.jrdma.verbs.Verbs} opens a {@link org.jrdma.verbs.Device}. A device creates {@link
 * org.jrdma.verbs.ProtectionDomain}s. A protection domain registers memory as {@link
 * org.jrdma.verbs.memory.MemoryRegion}s and creates {@link org.jrdma.verbs.QueuePair}s, which
 * transfer data. Closing an object closes all objects that were created from it.
 *
 * <p>There are two tiers of queue pairs. The type of the completion queue selects the tier: a
 * {@link org.jrdma.verbs.CompletionDispatcher} the asynchronous tier, a {@link
 * org.jrdma.verbs.CompletionQueue} the polled tier. Operations of an {@link
 * org.jrdma.verbs.AsyncQueuePair} return a {@link org.jrdma.verbs.Transfer}, and any number of
 * threads may use them. Requests of a {@link org.jrdma.verbs.PolledQueuePair} are prepared once and
 * posted without allocating; a {@link org.jrdma.verbs.CompletionCursor} polls for their
 * completions.
 */
@NullMarked
package org.jrdma.verbs;

import org.jspecify.annotations.NullMarked;
