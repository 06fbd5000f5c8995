package rlock_test

import (
	"testing"

	"github.com/rlock-go/redisson/internal/leakcheck"
	"github.com/rlock-go/redisson/internal/redistest"
)

func TestMain(m *testing.M) { leakcheck.Main(redistest.WithExamples{M: m}) }
