package main

import "testing"

func TestProbe(t *testing.T) {
	tell := func(r result) { t.Logf("%+v", r) }
	clusterRounds(clusterKilled, 2, tell)
	clusterRounds(clusterParted, 1, tell)
	pausedRounds(1, tell)
	movedRounds(1, tell)
}
