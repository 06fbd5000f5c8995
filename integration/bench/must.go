package main

// stopped carries an error out of a function whose every step may fail.
type stopped struct{ error }

// must is a step's value; an error ends the function, which defers caught.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// check ends a function that defers caught, if err is one.
func check(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// caught makes what a step failed with the function's error.
func caught(err *error) {
	switch failed := recover().(type) {
	case nil:
	case stopped:
		*err = failed.error
	default:
		panic(failed)
	}
}
