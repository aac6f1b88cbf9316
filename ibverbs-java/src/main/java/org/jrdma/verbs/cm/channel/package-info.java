/**
 * The protocol of {@code RdmaChannel}: parameters, message rings and flow control. Not exported.
 */
@NullMarked
package org.jrdma.verbs.cm.channel;

import org.jspecify.annotations.NullMarked;
