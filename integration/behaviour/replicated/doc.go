// Package replicated uses locks on a master and replicas whose roles change by hand, without
// Sentinels.
//
// Package internal/topology tests which node is believed. Here it is what a caller sees:
// holds that are kept, waiters that enter, and calls that fail with an error that says why.
package replicated
