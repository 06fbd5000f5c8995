package rlock

import (
	"reflect"
	"sync"
	"testing"
)

// Go vet reports a copy of what has a Locker in it. A copied Hold would stay valid for ever.
func TestVetReportsCopiesOfWhatMustNotBeCopied(t *testing.T) {
	t.Parallel()
	var locks func(reflect.Type) bool
	locks = func(of reflect.Type) bool {
		if reflect.PointerTo(of).Implements(reflect.TypeFor[sync.Locker]()) {
			return true
		}
		for i := 0; of.Kind() == reflect.Struct && i < of.NumField(); i++ {
			if locks(of.Field(i).Type) {
				return true
			}
		}
		return false
	}
	for _, of := range []reflect.Type{reflect.TypeFor[Client](), reflect.TypeFor[Hold](), reflect.TypeFor[Permits](), reflect.TypeFor[MultiHold]()} {
		if !locks(of) {
			t.Errorf("%v can be copied unseen", of)
		}
	}
}
