/**
 * What carries an engine's packets: UDP sockets, made by system calls because the JDK's lack
 * options that RoCE needs, and the thread that drives the engine when nobody polls.
 */
@NullMarked
package org.jrdma.soft.roce.network;

import org.jspecify.annotations.NullMarked;
