/**
 * Packets through shared memory, between ports of processes of one user on one kernel. The engine
 * does not distinguish such packets from packets over UDP.
 *
 * <p>A port that has an address also listens on a UNIX socket, whose name in the abstract name
 * space is derived from the address. The abstract name space belongs to the network namespace, as
 * the address does. When a queue pair connects to an address, or an address handle is created for
 * it, the port connects to this socket and passes the descriptor of a ring of packets to the peer.
 * The ring has one direction: for the opposite direction, the peer creates another ring. The
 * connection also wakes up a peer that sleeps, and reports the end of the peer.
 *
 * <p>The processes do not trust each other's values in the shared memory: each is read once and
 * checked before it is used. A wrong value closes the ring.
 */
@NullMarked
package org.jrdma.soft.roce.sharedmemory;

import org.jspecify.annotations.NullMarked;
