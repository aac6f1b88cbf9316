/**
 * Opens package {@code org.jrdma.verbs.flow} to the other packages of this module. Not exported.
 */
@NullMarked
package org.jrdma.verbs.flow.access;

import org.jspecify.annotations.NullMarked;
