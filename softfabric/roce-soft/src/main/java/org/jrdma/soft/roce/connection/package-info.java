/**
 * Connection management: the messages with which the connection managers of two machines connect
 * their queue pairs, including the header that librdmacm adds to private data. Like the engine,
 * this package has no threads, sockets or C structures, and its caller advances the clock.
 */
@NullMarked
package org.jrdma.soft.roce.connection;

import org.jspecify.annotations.NullMarked;
