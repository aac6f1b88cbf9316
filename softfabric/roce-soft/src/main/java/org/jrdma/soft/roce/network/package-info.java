/**
 * The network access of an engine: UDP sockets, and the thread that drives the engine when no other
 * thread polls. The sockets use system calls directly, because the sockets of the JDK lack options
 * that RoCE needs.
 */
@NullMarked
package org.jrdma.soft.roce.network;

import org.jspecify.annotations.NullMarked;
