/**
 * A clustered volume: servers, and clients that use its files.
 *
 * <p>{@link org.jrdma.volume.VolumeServer} runs a coordinator or standby. {@link
 * org.jrdma.volume.Volume} opens the volume as a {@link java.nio.file.FileSystem}.
 */
@NullMarked
package org.jrdma.volume;

import org.jspecify.annotations.NullMarked;
