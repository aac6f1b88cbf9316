/**
 * Sockets on the fastest path there is.
 *
 * <p>Programs that use {@code java.nio.channels} run unchanged over {@link
 * org.jrdma.sockets.FabricSelectorProvider}. A {@link org.jrdma.sockets.model.Transport} is a way
 * that a stream can take; each has a reason when it cannot be used.
 */
@NullMarked
package org.jrdma.sockets;

import org.jspecify.annotations.NullMarked;
