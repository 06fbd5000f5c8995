package pipeline

import (
	"net"
	"strings"
)

// onlineReplicas returns the addresses of the replicas in INFO replication that can
// acknowledge. A replica that still waits for or receives its full copy can't.
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

// field is the text between label and end; empty without the label.
func field(text, label, end string) string {
	_, rest, ok := strings.Cut(text, label)
	if !ok {
		return ""
	}
	v, _, _ := strings.Cut(rest, end)
	return v
}
