package command

import "time"

// DoneFunc is a Handler for requests that are never sent again.
type DoneFunc func(*Request)

// Unanswered does nothing: Done follows.
func (f DoneFunc) Unanswered(*Request) {}

// Paused never happens.
func (f DoneFunc) Paused(*Request, time.Duration) {}

// Done calls f.
func (f DoneFunc) Done(r *Request) { f(r) }

// Command makes r a request for a plain command.
func (r *Request) Command(name string, args ...any) {
	r.Wire.Command, r.Wire.Args, r.Wire.Script = name, args, nil
}
