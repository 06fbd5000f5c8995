// Package operations holds no code but tests: docs/operations.md and docs/dev/wire.md, with every command on them run.
//
// A block of language redis has commands behind the prompt "redis> ", each with its output. The commands of a section
// are typed into redis-cli on a server of their own, after the scenario of that section's name has made what the
// section is about, and what comes is compared with its page. Those of a block of language console are the tool's. What differs from run to run (ids, addresses, times)
// is masked on both sides; equal ids stay equal. Blocks of log lines are compared too, and what the first
// page says of settings is tried.
//
//	go test ./pages/operations -write    puts what comes into the pages
package operations
