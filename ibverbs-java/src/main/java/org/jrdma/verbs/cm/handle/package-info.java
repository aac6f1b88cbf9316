/**
 * Lifetimes of native identifiers and event channels, and native calls on them. Not exported.
 *
 * <p>Uses only the {@code model} packages of the API.
 */
@NullMarked
package org.jrdma.verbs.cm.handle;

import org.jspecify.annotations.NullMarked;
