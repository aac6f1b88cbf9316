/** Nodes, segments, maps, sequences, interrupts, DMA: what they do, and when they refuse. */
@NullMarked
package org.jrdma.soft.sisci.fabric;

import org.jspecify.annotations.NullMarked;
