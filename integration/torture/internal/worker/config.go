package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Word is the first argument that makes a binary a worker.
const Word = "worker"

// Config is what a worker process is told at its start, as its second argument.
type Config struct {
	URL            string
	Kind           string // of all locks
	Locks          []string
	Began          int64 // when the first round began
	Workers        int
	Seed           uint64
	Watchdog       time.Duration
	CommandTimeout time.Duration
	Place          time.Duration // for which a waiter keeps its place, where there is a queue; else 0
	Tunnel         bool          // its connections are as tunnel.go has them
	ReplicaSync    bool          // it waits for replicas
}

// Args are the arguments that start a worker process.
func (c Config) Args() ([]string, error) {
	text, err := json.Marshal(c)
	return []string{Word, string(text)}, err
}

// RunIfAsked turns this process into a worker, and ends it, if its arguments say so.
func RunIfAsked() {
	if len(os.Args) != 3 || os.Args[1] != Word {
		return
	}
	var c Config
	err := json.Unmarshal([]byte(os.Args[2]), &c)
	if err == nil {
		err = run(c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
