/** A relay whose disk loses what was not forced to it: power cuts on a real file system. */
@org.jspecify.annotations.NullMarked
package io.tabletrelay.harness.store;
