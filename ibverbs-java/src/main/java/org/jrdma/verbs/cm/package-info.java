/**
 * RDMA connections by IP address and port (librdmacm).
 *
 * <p>{@link org.jrdma.verbs.cm.ConnectionManager} is the entry point. {@link
 * org.jrdma.verbs.cm.RdmaChannel} adds messages with flow control to a connection.
 *
 * <p>{@link org.jrdma.verbs.cm.Identifier} and {@link org.jrdma.verbs.cm.EventChannel} are the
 * low-level API. Each call starts one step of a connection without waiting for the peer. A {@link
 * org.jrdma.verbs.cm.ConnectionEvent} reports the outcome of the step.
 *
 * <p>The program creates its queue pairs from a {@link org.jrdma.verbs.Device} that it opens by
 * name. librdmacm supplies the attributes for their state transitions, but creates no queue pair.
 * Protection domains, memory regions and completion queues are therefore the same with and without
 * the connection manager.
 */
@NullMarked
package org.jrdma.verbs.cm;

import org.jspecify.annotations.NullMarked;
