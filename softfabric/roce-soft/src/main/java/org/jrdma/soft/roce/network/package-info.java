/**
 * The network access of an engine: UDP sockets, by direct system calls because the JDK's sockets
 * lack options that RoCE needs, and the thread that drives the engine when no other thread polls.
 */
@NullMarked
package org.jrdma.soft.roce.network;

import org.jspecify.annotations.NullMarked;
