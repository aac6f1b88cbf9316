/** Tests of the SDK on several hosts. Each host is a container with its own network address. */
package org.jrdma.containers;
