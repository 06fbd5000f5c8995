package javareadwrite

import "testing"

func TestBesideJava(t *testing.T) {
	eachRelease(t, func(t *testing.T, version string) { BesideJava(t, version, *full) })
}
