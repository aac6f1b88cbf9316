/**
 * The messages between clients, coordinators and data servers.
 *
 * <p>A request is a {@link org.jrdma.volume.protocol.RequestHeader} and values that depend on its
 * {@link org.jrdma.volume.protocol.Operation}. A reply is a status and values.
 */
@NullMarked
package org.jrdma.volume.protocol;

import org.jspecify.annotations.NullMarked;
