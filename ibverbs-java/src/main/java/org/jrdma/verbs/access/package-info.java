/**
 * The accessor through which other packages of this module use non-public members of {@code
 * org.jrdma.verbs}, similar to {@code jdk.internal.access}. Not exported.
 */
@NullMarked
package org.jrdma.verbs.access;

import org.jspecify.annotations.NullMarked;
