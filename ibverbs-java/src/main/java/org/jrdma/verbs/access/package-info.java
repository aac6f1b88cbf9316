/**
 * Accessors for members that another package of this module needs and that are not public, one for
 * each opened package, in the manner of {@code jdk.internal.access}. Not exported.
 */
@NullMarked
package org.jrdma.verbs.access;

import org.jspecify.annotations.NullMarked;
