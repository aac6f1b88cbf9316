package org.jrdma.ffi;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks an immutable type whose methods return a changed copy. Error Prone and SpotBugs report a
 * call whose result is not used as an error, because they recognize annotations of this simple name
 * in any package.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
public @interface CheckReturnValue {}
