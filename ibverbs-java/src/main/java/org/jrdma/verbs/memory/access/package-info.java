/**
 * Opens package {@code org.jrdma.verbs.memory} to the other packages of this module. Not exported.
 */
@NullMarked
package org.jrdma.verbs.memory.access;

import org.jspecify.annotations.NullMarked;
