package faults

import (
	"flag"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var (
	scale = flag.Float64("scale", 0.05, "which part of each row's full size is run")
	write = flag.Bool("write", false, "put the table into docs/dev/tables/faults.md; needs -scale 1 and no violation")
)

const (
	timeout = 200 * time.Millisecond // of one command; everything else is at its default
	soon    = 10 * time.Second       // a state that is not there by then never comes
	far     = time.Minute            // waits that must not end by themselves
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(child())
	}
	flag.Parse()
	// Lanes wait far more than they work.
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// scaled is how many of n are run. Even a small part has some of each variant of a row.
func scaled(n int) int { return max(min(n, 4), int(float64(n)**scale+0.5)) }

// full tells whether leases have their default length. A small run can't wait for those.
func full() bool { return *scale >= 1 }

// lease is the watchdog timeout of rows that wait for renewals or for the end of a lease.
func lease() time.Duration {
	if full() {
		return 30 * time.Second
	}
	return 3 * time.Second
}
