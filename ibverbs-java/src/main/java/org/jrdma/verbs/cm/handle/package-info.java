/**
 * The lifetimes of librdmacm's identifiers and event channels, and the calls on them. Not exported.
 *
 * <p>Knows the plain values of the API, and nothing else of it.
 */
@NullMarked
package org.jrdma.verbs.cm.handle;

import org.jspecify.annotations.NullMarked;
