/** Nodes, segments, maps, sequences, interrupts and DMA: their behavior and their errors. */
@NullMarked
package org.jrdma.soft.sisci.fabric;

import org.jspecify.annotations.NullMarked;
