/**
 * Software devices that use RoCE v2. They are for tests, for development on machines without an
 * adapter, and for communication with adapters of other machines.
 */
@NullMarked
package org.jrdma.soft.roce;

import org.jspecify.annotations.NullMarked;
