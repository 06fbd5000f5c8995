// Package leakcheck fails a test binary whose tests leave goroutines behind.
//
//	func TestMain(m *testing.M) { leakcheck.Main(m) }
//
// It is small, and part of this repository, so that programs that require the library
// get no module that only its tests need.
package leakcheck
