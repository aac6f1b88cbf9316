/**
 * The accessor for members of package {@code org.jrdma.verbs.memory} that are not public. Not
 * exported.
 */
@NullMarked
package org.jrdma.verbs.memory.access;

import org.jspecify.annotations.NullMarked;
