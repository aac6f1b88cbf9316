/** RoCEv2 in Java: devices for tests, laptops, and peers without an adapter. */
@NullMarked
package org.jrdma.soft.roce;

import org.jspecify.annotations.NullMarked;
