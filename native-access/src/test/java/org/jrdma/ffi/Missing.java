package org.jrdma.ffi;

import org.opentest4j.TestAbortedException;

/**
 * Reports a missing prerequisite of a test: the test is skipped on a developer's machine and fails
 * in CI.
 */
public final class Missing {

    private Missing() {}

    public static RuntimeException missing(String reason) {
        if ("true".equals(System.getenv("CI"))) {
            throw new AssertionError(reason);
        }
        return new TestAbortedException(reason);
    }
}
