package main

import (
	"flag"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
)

func TestMain(m *testing.M) {
	// Stories wait most of the time, so all are told at once.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	leakcheck.Main(m)
}
