/**
 * Tests of features that no test device supports, on a libibverbs in C that records calls and
 * returns the results that each test sets. These features have not been run on hardware.
 */
package org.jrdma.tck.recorded;
