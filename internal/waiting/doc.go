// Package waiting has who waits for a name.
package waiting
