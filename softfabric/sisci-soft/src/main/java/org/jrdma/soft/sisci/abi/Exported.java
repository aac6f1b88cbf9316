package org.jrdma.soft.sisci.abi;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method that C can call. Pointers are longs. C passes one more, behind all others, for the
 * error code, unless it says otherwise.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface Exported {

    /** Its name in C, without prefix. */
    String value();

    /** Whether there is a place for the error code. */
    boolean reports() default true;
}
