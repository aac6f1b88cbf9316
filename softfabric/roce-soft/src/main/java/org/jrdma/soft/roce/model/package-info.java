/** Plain values of the software fabric: network faults and traced packets. */
@NullMarked
package org.jrdma.soft.roce.model;

import org.jspecify.annotations.NullMarked;
