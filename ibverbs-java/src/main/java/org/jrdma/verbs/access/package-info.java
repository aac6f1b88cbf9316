/**
 * Accessors for non-public members that other packages of this module need, one accessor per
 * package, like {@code jdk.internal.access}. Not exported.
 */
@NullMarked
package org.jrdma.verbs.access;

import org.jspecify.annotations.NullMarked;
