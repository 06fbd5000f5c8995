package wire

import (
	"slices"
	"strconv"
	"strings"
)

// older tells whether release a came before release b.
func older(a, b string) bool {
	return slices.Compare(numbers(a), numbers(b)) < 0
}

func numbers(version string) (n []int) {
	for part := range strings.SplitSeq(version, ".") {
		i, _ := strconv.Atoi(part)
		n = append(n, i)
	}
	return n
}
