/** A JUnit extension that provides software RDMA devices to tests. */
@NullMarked
package org.jrdma.soft.junit;

import org.jspecify.annotations.NullMarked;
