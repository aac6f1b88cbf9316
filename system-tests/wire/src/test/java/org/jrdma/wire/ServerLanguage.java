package org.jrdma.wire;

/**
 * The side that starts first: the C program on rxe1, or the Java program on the software fabric.
 */
enum ServerLanguage {
    C,
    JAVA
}
