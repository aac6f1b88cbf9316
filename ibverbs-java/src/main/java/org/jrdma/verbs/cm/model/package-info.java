/**
 * Values of the connection manager: addresses, parameters, private data and reject reasons.
 *
 * <p>Values are immutable, independent of native objects, and safe for use by multiple threads.
 */
@NullMarked
package org.jrdma.verbs.cm.model;

import org.jspecify.annotations.NullMarked;
