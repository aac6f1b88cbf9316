/**
 * The functions of libsisci, linked, each with its calling convention; its callbacks, and the
 * handles, event queues and removals of the objects that it creates. Uses no type of the API beyond
 * {@link org.jrdma.sisci.model}.
 */
@NullMarked
package org.jrdma.sisci.internal;

import org.jspecify.annotations.NullMarked;
