/**
 * Discovery and communication of the processes of a fabric: a directory with a file for each
 * object, and messages over sockets.
 */
@NullMarked
package org.jrdma.soft.sisci.control;

import org.jspecify.annotations.NullMarked;
