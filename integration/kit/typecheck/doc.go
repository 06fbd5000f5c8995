// Package typecheck type-checks the packages of a module as the compiler does, optionally with other texts in place of
// some files.
package typecheck
