package main

import (
	"testing"

	"github.com/rlock-go/redisson/internal/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }
