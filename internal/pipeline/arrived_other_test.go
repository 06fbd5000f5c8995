//go:build !linux

package pipeline

import (
	"net"
	"testing"
	"time"
)

// arrived waits for long enough.
func arrived(*testing.T, net.Conn) { time.Sleep(20 * time.Millisecond) }
