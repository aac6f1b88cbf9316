/** Nodes, segments, maps, sequences, interrupts and DMA: what they do, and when they fail. */
@NullMarked
package org.jrdma.soft.sisci.fabric;

import org.jspecify.annotations.NullMarked;
