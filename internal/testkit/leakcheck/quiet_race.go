//go:build race

package leakcheck

// quiet is lower here, since the race detector makes tests compute more.
const quiet = "24"
