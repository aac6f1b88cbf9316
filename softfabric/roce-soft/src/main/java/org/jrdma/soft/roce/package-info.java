/**
 * A RoCEv2 endpoint in Java: devices for tests, for development without an adapter, and for peers
 * that have none.
 */
@NullMarked
package org.jrdma.soft.roce;

import org.jspecify.annotations.NullMarked;
