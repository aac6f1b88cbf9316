/**
 * The protocol of {@code RdmaChannel}: the exchanged parameters, the message rings and the flow
 * control. Not exported.
 */
@NullMarked
package org.jrdma.verbs.cm.channel;

import org.jspecify.annotations.NullMarked;
