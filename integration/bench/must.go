package main

// stopped carries an error out of a function whose every step may fail.
type stopped struct{ error }

// must returns a step's value. An error ends the function, which must defer caught.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// check ends a function that defers caught, if err is not nil.
func check(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// caught makes the error of a failed step the function's error.
func caught(err *error) {
	switch failed := recover().(type) {
	case nil:
	case stopped:
		*err = failed.error
	default:
		panic(failed)
	}
}
