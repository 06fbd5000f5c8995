// Package leakcheck fails a test binary whose tests leave goroutines behind.
//
//	func TestMain(m *testing.M) { leakcheck.Main(m) }
//
// It is small, and here, so that whoever requires this library gets no module
// for the sake of its tests.
package leakcheck
