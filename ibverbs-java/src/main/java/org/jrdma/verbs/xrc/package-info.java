/**
 * Extended reliable connections (XRC): one connection to a machine serves all shared receive queues
 * of a domain, of whichever process.
 *
 * <p>An {@link org.jrdma.verbs.xrc.XrcDomain} makes the receiving ends of connections and the
 * shared receive queues. The sending ends are queue pairs of {@link
 * org.jrdma.verbs.QueuePairOptions#xrcSend}.
 */
@NullMarked
package org.jrdma.verbs.xrc;

import org.jspecify.annotations.NullMarked;
