// Package operations holds no code but tests: docs/operations.md and docs/dev/wire.md, with every command on them run.
//
// A block of language redis has commands behind the prompt "redis> ", each with its output. For each section a test
// starts a server, runs the scenario of the section's name, types the section's commands into redis-cli and compares
// the output with the page. Blocks of language console have the commands of the tool rlock. Values that differ from run
// to run (ids, addresses, times) are masked on both sides; equal ids stay equal. Blocks of log lines are compared too,
// and what the first page says about settings is tried.
//
//	go test ./pages/operations -write    puts the outputs into the pages
package operations
