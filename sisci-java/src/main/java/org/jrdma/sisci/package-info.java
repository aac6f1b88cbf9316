/**
 * SISCI: nodes share segments of memory across PCIe.
 *
 * <p>{@link org.jrdma.sisci.Sisci} is where it begins: it opens a {@link org.jrdma.sisci.Node},
 * from which everything else is made and with which it is closed. A {@link
 * org.jrdma.sisci.LocalSegment} is offered to peers, who reach it as a {@link
 * org.jrdma.sisci.RemoteSegment}; a map of it is memory that is stored into and loaded from.
 */
@NullMarked
package org.jrdma.sisci;

import org.jspecify.annotations.NullMarked;
