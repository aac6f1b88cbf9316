/**
 * The protocol engine of an adapter, without sockets, threads or a clock of its own.
 *
 * <p>One thread at a time calls an {@link Engine} with incoming packets, the current time, and
 * queue pairs that have new work. The engine passes outgoing packets to {@link PacketLink},
 * completions to {@link CompletionSink}, and events to {@link EventSink}; none of these may call
 * back into the engine. Other threads may only post to {@link SendQueue} and {@link ReceiveQueue},
 * ring doorbells, and register memory with {@link MemoryRegistry}.
 */
@NullMarked
package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jspecify.annotations.NullMarked;
