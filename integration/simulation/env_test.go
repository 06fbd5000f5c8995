package simulation

import (
	"os"
	"strconv"
)

// Env reads a number.
func Env(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
