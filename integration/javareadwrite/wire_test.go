package javareadwrite

import "testing"

func TestReadWriteLockOnTheWire(t *testing.T) {
	eachRelease(t, func(t *testing.T, version string) { OnTheWire(t, version) })
}
