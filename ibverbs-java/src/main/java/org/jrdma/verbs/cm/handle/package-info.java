/**
 * The native identifiers and event channels of the connection manager: their creation and
 * destruction, and the native calls on them. Not exported.
 *
 * <p>Uses only the {@code model} packages of the API.
 */
@NullMarked
package org.jrdma.verbs.cm.handle;

import org.jspecify.annotations.NullMarked;
