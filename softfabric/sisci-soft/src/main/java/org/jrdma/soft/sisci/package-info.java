/** The software fabric for SISCI: nodes in shared memory, for machines without an adapter. */
@NullMarked
package org.jrdma.soft.sisci;

import org.jspecify.annotations.NullMarked;
