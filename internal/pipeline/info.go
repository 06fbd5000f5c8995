package pipeline

import (
	"strconv"
	"strings"
)

// countReplicas reads INFO replication.
func countReplicas(info string) int {
	n, _ := strconv.Atoi(field(info, "connected_slaves:", "\r\n"))
	return n
}

// field is the text between a label and an end.
func field(text, label, end string) string {
	_, rest, ok := strings.Cut(text, label)
	if !ok {
		return ""
	}
	v, _, _ := strings.Cut(rest, end)
	return v
}
