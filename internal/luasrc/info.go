package luasrc

// Info reads which owner holds key, how many times, and for how long. It changes nothing.
//
//	KEYS  key
//	reply array: PTTL of key, number of its fields and, of a single one, field and value (DecodeHolder)
//
// A key of another type makes it fail with WRONGTYPE.
func Info(dst []any, key Arg) Call {
	return InfoScript.call(dst, 1, key)
}
