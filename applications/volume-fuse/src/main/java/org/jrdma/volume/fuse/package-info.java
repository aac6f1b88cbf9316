/**
 * The mount of a volume. {@link org.jrdma.volume.fuse.Mount} is the program, and {@link
 * org.jrdma.volume.fuse.VolumeOperations} translates the requests of the kernel.
 */
@NullMarked
package org.jrdma.volume.fuse;

import org.jspecify.annotations.NullMarked;
