/**
 * Memory that adapters access: memory regions, arenas of registered memory, memory on devices, and
 * memory windows, which make parts of regions accessible to peers.
 *
 * <p>A {@link org.jrdma.verbs.Device} allocates device memory; a {@link
 * org.jrdma.verbs.ProtectionDomain} creates all other objects.
 */
@NullMarked
package org.jrdma.verbs.memory;

import org.jspecify.annotations.NullMarked;
