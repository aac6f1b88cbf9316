/**
 * Extended reliable connections (XRC): one connection to a machine can deliver messages to all
 * shared receive queues of an XRC domain. Several processes can share an XRC domain.
 *
 * <p>An {@link org.jrdma.verbs.xrc.XrcDomain} creates the receiving queue pairs and the shared
 * receive queues. The sending queue pairs are created with {@link
 * org.jrdma.verbs.QueuePairOptions#xrcSend}.
 */
@NullMarked
package org.jrdma.verbs.xrc;

import org.jspecify.annotations.NullMarked;
