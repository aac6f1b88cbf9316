/** The types that the entry points of the sockets and their implementation share. */
@NullMarked
package org.jrdma.sockets.model;

import org.jspecify.annotations.NullMarked;
