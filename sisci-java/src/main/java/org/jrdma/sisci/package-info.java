/**
 * SISCI: nodes share segments of memory across PCIe.
 *
 * <p>{@link org.jrdma.sisci.Sisci} is the entry point. It opens a {@link org.jrdma.sisci.Node},
 * which creates and owns all other objects. A {@link org.jrdma.sisci.LocalSegment} is memory that a
 * node makes available to its peers. A peer connects to it as a {@link
 * org.jrdma.sisci.RemoteSegment}, and maps it to load from it and store into it.
 */
@NullMarked
package org.jrdma.sisci;

import org.jspecify.annotations.NullMarked;
