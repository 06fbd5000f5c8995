package main

import (
	"errors"
	"testing"
)

// The library's errors name options and methods, the tool's name flags and commands.
func TestErrorsNameFlagsAndCommands(t *testing.T) {
	for said, want := range map[string]string{
		"rlock: x; try it without WithTLSConfig":                                              "x; try it without --tls",
		"x; try WithSentinelTLSConfig":                                                        "x; try --sentinel-tls",
		"x; if that authority is yours, put it into RootCAs of WithTLSConfig":                 "x; if that authority is yours, give it with --tls-ca",
		"x; if that authority is yours, put it into RootCAs of WithSentinelTLSConfig":         "x; if that authority is yours, give it with --tls-ca",
		"x: put it into Certificates of WithTLSConfig":                                        "x: give it with --tls-cert and --tls-key",
		"x, put a name that its certificate has into ServerName of WithTLSConfig":             "x, use a name that its certificate has",
		"x: none were set with TrySetPermits, or the semaphore was deleted":                   "x: none were set with rlock permits NAME set N, or the semaphore was deleted",
		"a password is required: use WithSentinelCredentials: NOAUTH Authentication required": "a password is required: use --sentinel-password-file: NOAUTH Authentication required",
	} {
		if got := told(errors.New(said)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
