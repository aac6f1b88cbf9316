/** Tests of the SDK on several hosts, each a container with a network address of its own. */
package org.jrdma.containers;
