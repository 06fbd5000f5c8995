package pipeline

import (
	"net"
	"strings"
)

// onlineReplicas reads from INFO replication where the replicas are that can
// acknowledge: one that waits for a full copy, or is being sent it, can't.
func onlineReplicas(info string) (addrs []string) {
	for line := range strings.Lines(info) {
		label, about, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !strings.HasPrefix(label, "slave") || !strings.HasPrefix(about, "ip=") {
			continue
		}
		about = "," + about + ","
		if field(about, ",state=", ",") == "online" {
			addrs = append(addrs, net.JoinHostPort(field(about, ",ip=", ","), field(about, ",port=", ",")))
		}
	}
	return addrs
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
