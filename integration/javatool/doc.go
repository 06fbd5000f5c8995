// Package javatool holds no code but tests: the command-line tool beside real Redisson. Locks that Java holds are shown as
// Go's are, and a JVM waits for a lock that `rlock run` holds.
package javatool
