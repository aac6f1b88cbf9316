/**
 * The linked functions and callbacks of libsisci, and the handles, event queues and removals of its
 * objects. The only types of the API used here are those of {@link org.jrdma.sisci.model}.
 */
@NullMarked
package org.jrdma.sisci.internal;

import org.jspecify.annotations.NullMarked;
