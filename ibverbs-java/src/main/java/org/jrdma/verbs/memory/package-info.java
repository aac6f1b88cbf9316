/**
 * Memory that adapters access: memory regions, arenas of registered memory, memory on devices, and
 * memory windows.
 *
 * <p>A {@link org.jrdma.verbs.Device} allocates device memory; a {@link
 * org.jrdma.verbs.ProtectionDomain} creates all other objects.
 */
@NullMarked
package org.jrdma.verbs.memory;

import org.jspecify.annotations.NullMarked;
