/**
 * RDMA from Java, over libibverbs.
 *
 * <p>{@link org.jrdma.verbs.Verbs} opens a {@link org.jrdma.verbs.Device}. A device makes {@link
 * org.jrdma.verbs.ProtectionDomain}s, which register memory, as {@link
 * org.jrdma.verbs.memory.MemoryRegion}s, and make {@link org.jrdma.verbs.QueuePair}s, which move
 * it. Every object is closed with the one that made it.
 *
 * <p>There are two tiers, and the completion queue decides: operations of a {@link
 * org.jrdma.verbs.AsyncQueuePair} are awaited, by any number of threads; requests of a {@link
 * org.jrdma.verbs.PolledQueuePair} are prepared once, posted without allocating, and polled for by
 * {@link org.jrdma.verbs.CompletionCursor}s.
 */
@NullMarked
package org.jrdma.verbs;

import org.jspecify.annotations.NullMarked;
