package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.soft.roce.abi.UnacknowledgedEvents;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous event.
 *
 * @param type the {@code IBV_EVENT_} code
 * @param element the address of the structure that the event is about, or the number of a port
 * @param count the unacknowledged events of that object; null for a port
 */
record AsyncEvent(int type, long element, @Nullable UnacknowledgedEvents count) {}
