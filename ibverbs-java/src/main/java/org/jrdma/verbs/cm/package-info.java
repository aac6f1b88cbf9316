/**
 * Connections by name of machine and port, in place of queue pairs told to each other by hand:
 * librdmacm for Java.
 *
 * <p>{@link org.jrdma.verbs.cm.ConnectionManager} is where it begins. An {@link
 * org.jrdma.verbs.cm.Identifier} and its {@link org.jrdma.verbs.cm.EventChannel} have every step on
 * its own, none of which waits for a peer; the answers come as {@link
 * org.jrdma.verbs.cm.ConnectionEvent}s.
 *
 * <p>Queue pairs are the user's own, made from a {@link org.jrdma.verbs.Device} that was opened by
 * name: librdmacm says in which states and with which attributes they must be, and makes none. So
 * domains, regions and completion queues serve connections as they serve all else.
 */
@NullMarked
package org.jrdma.verbs.cm;

import org.jspecify.annotations.NullMarked;
