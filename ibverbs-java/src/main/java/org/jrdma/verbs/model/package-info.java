/**
 * Plain values of the verbs API: addresses, attributes, states, capabilities, codes and errors.
 *
 * <p>A value does not own native resources and need not be closed. Values are immutable and safe
 * for use by multiple threads, unless the documentation of their type states otherwise.
 */
@NullMarked
package org.jrdma.verbs.model;

import org.jspecify.annotations.NullMarked;
