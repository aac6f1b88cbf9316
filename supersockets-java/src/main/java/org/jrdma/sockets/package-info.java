/**
 * Sockets over the fastest available transport.
 *
 * <p>Programs that use {@code java.nio.channels} run unmodified over {@link
 * org.jrdma.sockets.FabricSelectorProvider}. A {@link org.jrdma.sockets.model.Transport} carries
 * the bytes of a stream. A transport that this machine cannot use reports the reason.
 */
@NullMarked
package org.jrdma.sockets;

import org.jspecify.annotations.NullMarked;
