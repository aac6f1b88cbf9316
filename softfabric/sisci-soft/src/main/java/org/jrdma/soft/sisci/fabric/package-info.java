/** The behavior and the errors of nodes, segments, maps, sequences, interrupts and DMA. */
@NullMarked
package org.jrdma.soft.sisci.fabric;

import org.jspecify.annotations.NullMarked;
