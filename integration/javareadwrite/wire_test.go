package javareadwrite

import "testing"

func TestReadWriteLockOnTheWire(t *testing.T) { eachRelease(t, OnTheWire) }
