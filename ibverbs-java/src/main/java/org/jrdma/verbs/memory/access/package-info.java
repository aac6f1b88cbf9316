/**
 * The accessor through which other packages of this module use non-public members of {@code
 * org.jrdma.verbs.memory}. Not exported.
 */
@NullMarked
package org.jrdma.verbs.memory.access;

import org.jspecify.annotations.NullMarked;
