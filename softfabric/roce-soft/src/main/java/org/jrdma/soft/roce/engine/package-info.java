/**
 * Executes the RoCE protocol, as the hardware of an adapter does. It has no sockets and no threads,
 * and its caller advances the clock.
 *
 * <p>One thread at a time drives an {@link Engine}: it passes incoming packets and the current time
 * to the engine. The engine passes outgoing packets to a {@link NetworkPacketSender}, completions
 * to {@link CompletionSink}s, and events to {@link EventSink}s. None of these may call back into
 * the engine. Other threads may only post to a {@link SendQueue} or {@link ReceiveQueue}, ring
 * doorbells, and register memory with a {@link MemoryRegistry}.
 */
@NullMarked
package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jspecify.annotations.NullMarked;
