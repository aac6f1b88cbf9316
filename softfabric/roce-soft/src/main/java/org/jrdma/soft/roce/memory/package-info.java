/**
 * Registered memory: regions, windows and protection domains, and the checks that each access by a
 * packet passes.
 */
@NullMarked
package org.jrdma.soft.roce.memory;

import org.jspecify.annotations.NullMarked;
