/**
 * A file system provider for volumes: paths, channels, folders and attributes of {@code
 * java.nio.file}.
 */
@NullMarked
package org.jrdma.volume.nio;

import org.jspecify.annotations.NullMarked;
