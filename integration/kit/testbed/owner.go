package testbed

import (
	"strings"

	"github.com/rlock-go/redisson/rlock"
)

// Holder is a hold's owner as the hold prints it. Hold.Owner would mark the owner as given away, which changes the
// unlock.
func Holder(h *rlock.Hold) string {
	text := h.String()
	return strings.TrimSuffix(text[strings.LastIndex(text, ", ")+len(", "):], ")")
}
