/**
 * Flow steering: rules by which a queue pair receives packets of its port, and counters of those
 * packets.
 */
@NullMarked
package org.jrdma.verbs.flow;

import org.jspecify.annotations.NullMarked;
