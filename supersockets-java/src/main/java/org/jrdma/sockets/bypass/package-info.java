/** What a bypass of the kernel implements: a stream, a listener and a connector. */
@NullMarked
package org.jrdma.sockets.bypass;

import org.jspecify.annotations.NullMarked;
