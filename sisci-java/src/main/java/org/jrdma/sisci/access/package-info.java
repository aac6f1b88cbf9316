/**
 * The accessor through which other packages of this module use non-public members of {@code
 * org.jrdma.sisci}. Not exported.
 */
@NullMarked
package org.jrdma.sisci.access;

import org.jspecify.annotations.NullMarked;
