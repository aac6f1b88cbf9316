/**
 * What objects made from a device or a protection domain need of their owners: the native
 * structures, their lifetimes, and the calls that several packages of the API make. Not exported.
 *
 * <p>A handle keeps the API object that it belongs to reachable. A destructor must therefore never
 * refer to a handle, or an object that a program forgot would never be reported.
 */
@NullMarked
package org.jrdma.verbs.handle;

import org.jspecify.annotations.NullMarked;
