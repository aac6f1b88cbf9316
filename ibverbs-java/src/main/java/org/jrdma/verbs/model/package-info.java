/**
 * Plain values of the verbs API: addresses, attributes, states, capabilities, codes and errors.
 *
 * <p>A value holds no native resource, needs no closing and, unless its type says otherwise, is
 * immutable and safe for use by multiple threads.
 */
@NullMarked
package org.jrdma.verbs.model;

import org.jspecify.annotations.NullMarked;
