//go:build !unix

package leakcheck

import "os"

var heeded []os.Signal
