/** Plain values of flow steering: what a rule matches, what kind it is, what is counted. */
@NullMarked
package org.jrdma.verbs.flow.model;

import org.jspecify.annotations.NullMarked;
