/**
 * Drives: block storage that several nodes can access at the same time, and the means to exclude
 * nodes that have lost their role.
 *
 * <p>A {@link org.jrdma.volume.drive.Drive} knows nothing of files. It has blocks of 4,096 bytes.
 */
@NullMarked
package org.jrdma.volume.drive;

import org.jspecify.annotations.NullMarked;
