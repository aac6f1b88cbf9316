/**
 * Registered memory: memory regions, memory windows and protection domains, and the checks of each
 * access to them.
 */
@NullMarked
package org.jrdma.soft.roce.memory;

import org.jspecify.annotations.NullMarked;
