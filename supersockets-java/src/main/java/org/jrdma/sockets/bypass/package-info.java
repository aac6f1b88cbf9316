/** The interface between channels and kernel bypasses: a stream, a listener and a connector. */
@NullMarked
package org.jrdma.sockets.bypass;

import org.jspecify.annotations.NullMarked;
