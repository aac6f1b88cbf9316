package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.soft.roce.abi.UnacknowledgedEvents;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous event that waits to be received by the program with {@code ibv_get_async_event}.
 *
 * @param type the {@code IBV_EVENT_} code
 * @param element the address of the structure that the event is about, such as an {@code ibv_qp},
 *     or the port number for an event about a port
 * @param count the counter of unacknowledged events of the object that the event is about; null for
 *     an event about a port
 */
record AsyncEvent(int type, long element, @Nullable UnacknowledgedEvents count) {}
