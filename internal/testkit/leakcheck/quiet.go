//go:build !race

package leakcheck

// quiet is how many tests run at a time on a machine with little else to do: nearly all of them wait.
const quiet = "32"
