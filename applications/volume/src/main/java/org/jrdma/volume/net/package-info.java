/**
 * Connections between nodes over verbs, SISCI or sockets. Each side calls the other with small
 * messages, and a call can transfer bulk data in either direction.
 *
 * <p>Everything that a peer sends is checked. A violation ends the connection to that peer and
 * affects no other connection.
 */
@NullMarked
package org.jrdma.volume.net;

import org.jspecify.annotations.NullMarked;
