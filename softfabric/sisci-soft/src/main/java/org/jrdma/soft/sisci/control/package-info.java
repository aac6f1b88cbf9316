/**
 * How the processes of a fabric find each other and talk: a directory with a file for each thing
 * that others can find, and messages over sockets.
 */
@NullMarked
package org.jrdma.soft.sisci.control;

import org.jspecify.annotations.NullMarked;
