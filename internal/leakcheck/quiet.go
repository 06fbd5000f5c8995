//go:build !race

package leakcheck

// quiet is how many tests run at a time where the machine has little else to do: nearly all of them wait.
const quiet = "32"
