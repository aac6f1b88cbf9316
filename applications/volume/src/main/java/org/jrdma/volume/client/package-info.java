/**
 * The client of a volume: its session with the coordinator, open files with their leases, and the
 * paths to the data.
 */
@NullMarked
package org.jrdma.volume.client;

import org.jspecify.annotations.NullMarked;
