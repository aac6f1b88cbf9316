/**
 * The accessor through which other packages of this module use non-public members of {@code
 * org.jrdma.verbs.flow}. Not exported.
 */
@NullMarked
package org.jrdma.verbs.flow.access;

import org.jspecify.annotations.NullMarked;
