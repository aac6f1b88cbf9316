/**
 * The metadata of a volume: its folders, files and extents, and the journal that makes them
 * durable.
 *
 * <p>The coordinator applies each {@link org.jrdma.volume.metadata.Change} to its {@link
 * org.jrdma.volume.metadata.Namespace}, and appends it to the {@link
 * org.jrdma.volume.metadata.Journal}. Only the journal and the superblock do I/O.
 */
@NullMarked
package org.jrdma.volume.metadata;

import org.jspecify.annotations.NullMarked;
