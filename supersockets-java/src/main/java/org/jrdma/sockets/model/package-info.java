/** The types that the entry points and the implementation of the sockets have in common. */
@NullMarked
package org.jrdma.sockets.model;

import org.jspecify.annotations.NullMarked;
