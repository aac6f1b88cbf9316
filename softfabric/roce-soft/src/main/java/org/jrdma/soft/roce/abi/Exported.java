package org.jrdma.soft.roce.abi;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a method that C can call. Pointers are passed as {@code long}. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Exported {

    /** The name of the function in C, or of the structure member that points to it. */
    String value();

    /** The way in which the function reports a failure. */
    Failure failure();
}
