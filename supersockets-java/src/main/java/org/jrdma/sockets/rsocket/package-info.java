/** Streams over the rsockets of librdmacm. */
@NullMarked
package org.jrdma.sockets.rsocket;

import org.jspecify.annotations.NullMarked;
