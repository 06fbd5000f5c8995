//go:build !linux

package pipeline

import (
	"net"
	"testing"
	"time"
)

// arrived waits long enough, as this system can't tell what has arrived.
func arrived(*testing.T, net.Conn) { time.Sleep(20 * time.Millisecond) }
