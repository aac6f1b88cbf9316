/**
 * The native objects of the connection manager ({@code rdma_cm_id}, {@code rdma_event_channel}):
 * their creation and destruction, and the native calls on them. Not exported.
 *
 * <p>Uses only the {@code model} packages of the API.
 */
@NullMarked
package org.jrdma.verbs.cm.handle;

import org.jspecify.annotations.NullMarked;
