/**
 * Connections by IP address and port: librdmacm for Java.
 *
 * <p>{@link org.jrdma.verbs.cm.ConnectionManager} is the entry point; {@link
 * org.jrdma.verbs.cm.RdmaChannel} adds messages with flow control to a connection. An {@link
 * org.jrdma.verbs.cm.Identifier} and its {@link org.jrdma.verbs.cm.EventChannel} offer each step of
 * a connection on its own: no step waits for a peer, and outcomes are {@link
 * org.jrdma.verbs.cm.ConnectionEvent}s.
 *
 * <p>Queue pairs are created by the program, from a {@link org.jrdma.verbs.Device} that was opened
 * by name: librdmacm determines their states and attributes, and creates none. Protection domains,
 * memory regions and completion queues are therefore the same as without connections.
 */
@NullMarked
package org.jrdma.verbs.cm;

import org.jspecify.annotations.NullMarked;
