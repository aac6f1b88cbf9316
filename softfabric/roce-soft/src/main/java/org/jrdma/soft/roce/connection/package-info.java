/**
 * Connection management: the messages by which adapters connect queue pairs of two machines, with
 * the header that librdmacm adds. Like the engine, this package has no threads, sockets or C
 * structures, and its caller advances the clock.
 */
@NullMarked
package org.jrdma.soft.roce.connection;

import org.jspecify.annotations.NullMarked;
