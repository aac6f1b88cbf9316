package org.jrdma.soft.sisci.abi;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method that is exported as a C function. Pointers have the type {@code long}. The C
 * function has an additional last argument for the error code, unless {@link #reports()} is false.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface Exported {

    /** The name of the C function, without the prefix of its symbol. */
    String value();

    /** Returns true if the C function has an argument for the error code. */
    boolean reports() default true;
}
