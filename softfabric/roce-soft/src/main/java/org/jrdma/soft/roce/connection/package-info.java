/**
 * Connection management: the protocol by which the connection managers of two hosts connect their
 * queue pairs, including the header that librdmacm adds to private data. Like the engine, this
 * package has no threads, sockets or C structures. Its caller provides the clock and calls it when
 * timers expire.
 */
@NullMarked
package org.jrdma.soft.roce.connection;

import org.jspecify.annotations.NullMarked;
