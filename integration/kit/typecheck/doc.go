// Package typecheck has the packages of a module as the compiler sees them, some files' texts perhaps replaced by others,
// without building them.
package typecheck
