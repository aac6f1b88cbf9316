/**
 * Access to non-public members of {@code org.jrdma.verbs.flow} for other packages of this module.
 * Not exported.
 */
@NullMarked
package org.jrdma.verbs.flow.access;

import org.jspecify.annotations.NullMarked;
