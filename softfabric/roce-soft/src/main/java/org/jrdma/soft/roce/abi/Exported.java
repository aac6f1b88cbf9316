package org.jrdma.soft.roce.abi;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a Java method that implements a function of the C API. {@link Exports} creates a function
 * pointer for it, through which C code calls the method. The method receives and returns pointers
 * as {@code long} values.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Exported {

    /**
     * The name of the C function, or the name of the structure member that contains the function
     * pointer.
     */
    String value();

    /** The convention by which the C function reports a failure. */
    ErrorConvention failure();
}
