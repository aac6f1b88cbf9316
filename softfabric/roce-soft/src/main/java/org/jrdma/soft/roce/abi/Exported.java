package org.jrdma.soft.roce.abi;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a method that C can call. Pointers are longs. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Exported {

    /** Its name in C; of a function in a context, the member's. */
    String value();

    /** How it reports a failure. */
    Failure failure();
}
