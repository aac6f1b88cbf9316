/**
 * Plain values of the connection manager: addresses, parameters, private data and reject reasons.
 *
 * <p>Values have no native state and no owner, and can be used by any thread at any time.
 */
@NullMarked
package org.jrdma.verbs.cm.model;

import org.jspecify.annotations.NullMarked;
