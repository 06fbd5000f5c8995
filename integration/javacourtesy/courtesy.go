package main

import "github.com/rlock-go/redisson/rlock"

// courtesyExists: the client has a courtesy that can be switched.
const courtesyExists = true

func courtesy(on bool) []rlock.Option { return []rlock.Option{rlock.WithCourtesy(on)} }
