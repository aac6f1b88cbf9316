/** Devices in software for a user's own tests with JUnit. */
@NullMarked
package org.jrdma.soft.junit;

import org.jspecify.annotations.NullMarked;
