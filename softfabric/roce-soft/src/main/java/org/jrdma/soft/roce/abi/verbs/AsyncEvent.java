package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.soft.roce.abi.UnacknowledgedEvents;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened, apart from completions.
 *
 * @param type C's number of it
 * @param element the address of the structure it is about, or the number of a port
 * @param count of whom its acknowledgement is awaited; null for a port
 */
record AsyncEvent(int type, long element, @Nullable UnacknowledgedEvents count) {}
