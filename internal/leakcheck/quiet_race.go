//go:build race

package leakcheck

// quiet is less, since the race detector has them compute more.
const quiet = "24"
