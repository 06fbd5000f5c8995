package pipeline

import (
	"net"
	"strconv"
	"strings"
)

// hangsAfter is how many seconds a replica may be silent. Each reports to its master once a
// second. A replica that hangs keeps its connection, which the master calls online for
// another minute.
const hangsAfter = 8

// onlineReplicas returns the addresses of the replicas in INFO replication that can
// acknowledge. A replica that still waits for or receives its full copy can't, nor can one
// that hangs.
func onlineReplicas(info string) (addrs []string) {
	for line := range strings.Lines(info) {
		label, about, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !strings.HasPrefix(label, "slave") || !strings.HasPrefix(about, "ip=") {
			continue
		}
		about = "," + about + ","
		lag, _ := strconv.Atoi(field(about, ",lag=", ","))
		if field(about, ",state=", ",") == "online" && lag < hangsAfter {
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
