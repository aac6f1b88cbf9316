/**
 * Flow steering: rules that deliver the packets of a port to queue pairs, and counters for those
 * packets.
 */
@NullMarked
package org.jrdma.verbs.flow;

import org.jspecify.annotations.NullMarked;
