/** Plain values of flow steering: match fields, kinds of rules, and counted quantities. */
@NullMarked
package org.jrdma.verbs.flow.model;

import org.jspecify.annotations.NullMarked;
