/** Streams over librdmacm's rsockets: what is behind the transport of that name. */
@NullMarked
package org.jrdma.sockets.rsocket;

import org.jspecify.annotations.NullMarked;
