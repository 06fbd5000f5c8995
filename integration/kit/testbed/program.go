package testbed

import "github.com/rlock-go/redisson/integration/kit/program"

// Program is the part of testing.TB that servers, proxies and peers need, for a program that is no test.
type Program = program.Program
