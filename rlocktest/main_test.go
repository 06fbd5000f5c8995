package rlocktest_test

import (
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }
