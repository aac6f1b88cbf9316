/** Transport selection: the order of preference, and the rules of the policy file. */
@NullMarked
package org.jrdma.sockets.policy;

import org.jspecify.annotations.NullMarked;
