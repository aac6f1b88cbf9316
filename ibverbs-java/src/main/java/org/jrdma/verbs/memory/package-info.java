/**
 * Memory that adapters use: regions, the arenas and devices that the memory comes from, and memory
 * windows, which show parts of regions to peers.
 *
 * <p>A {@link org.jrdma.verbs.ProtectionDomain} makes all of them.
 */
@NullMarked
package org.jrdma.verbs.memory;

import org.jspecify.annotations.NullMarked;
