/**
 * The coordinator of a volume: the only node that changes its metadata.
 *
 * <p>A {@link org.jrdma.volume.coordinator.Coordinator} executes the requests of clients. It grants
 * leases, and ends the sessions of clients that do not respond. {@link
 * org.jrdma.volume.coordinator.Takeover} makes a standby the coordinator.
 */
@NullMarked
package org.jrdma.volume.coordinator;

import org.jspecify.annotations.NullMarked;
