package command

// DoneFunc is a Handler for requests that are never sent again.
type DoneFunc func(*Request)

// Answered calls f.
func (f DoneFunc) Answered(r *Request) { f(r) }

// Rest calls f.
func (f DoneFunc) Rest(r *Request) { f(r) }

// Command makes r a request for a plain command.
func (r *Request) Command(name string, args ...any) {
	r.Wire.Command, r.Wire.Args, r.Wire.Script = name, args, nil
}
