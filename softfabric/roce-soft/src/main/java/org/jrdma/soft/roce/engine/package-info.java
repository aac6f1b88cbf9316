/**
 * What an adapter does, without sockets, threads or a clock of its own.
 *
 * <p>An {@link Engine} is called by one thread: packets that came in, the time, a queue pair with
 * new work. It answers through {@link PacketLink} with packets to be sent, through {@link
 * CompletionSink} with completions, through {@link EventSink} with events; none of them may call
 * back into it. Other threads only post to {@link SendQueue} and {@link ReceiveQueue}, and register
 * memory with {@link MemoryRegistry}.
 */
@NullMarked
package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jspecify.annotations.NullMarked;
