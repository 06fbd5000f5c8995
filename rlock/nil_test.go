package rlock

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A nil function or context is refused before anything is sent. It would panic later, with the lock held.
func TestNilFunctionsAndContextsAreRefused(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l, permits := c.NewLock("orders"), c.NewPermitSemaphore("seats")
	var none context.Context
	for what, err := range map[string]error{
		"Do":              l.Do(t.Context(), nil),
		"DoHold":          l.DoHold(t.Context(), nil),
		"Lead":            l.Lead(t.Context(), nil),
		"a MultiLock's":   NewMultiLock(l).Do(t.Context(), nil),
		"permits' Do":     permits.Do(t.Context(), 1, nil),
		"a semaphore's":   c.NewSemaphore("rooms").Do(t.Context(), 1, nil),
		"no ctx for Open": func() error { _, err := Open(none, s.URL()); return err }(),
	} {
		if !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := permits.TrySetPermits(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	some, err := permits.TryAcquire(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	all, err := NewMultiLock(l, c.NewLock("stock")).TryLock(t.Context(), Lease(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	h, conn := all.Holds()[0], s.Dial(t)
	keys := func() string {
		t.Helper()
		found, err := redis.Strings(conn.Do("KEYS", "*"))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(found)
		return fmt.Sprint(found)
	}
	before := keys()
	missing := typesWithMethods(t)
	for _, one := range []any{c, l, permits, c.NewSemaphore("rooms"), c.NewCountDownLatch("ready"), NewMultiLock(c.NewLock("a")), h, all, some} {
		v := reflect.ValueOf(one)
		delete(missing, v.Type().Elem().Name())
		for i := range v.NumMethod() {
			what := v.Type().Elem().Name() + "." + v.Type().Method(i).Name
			method := v.Method(i)
			if method.Type().NumIn() == 0 || method.Type().In(0) != reflect.TypeFor[context.Context]() {
				continue
			}
			results := callWithSomething(none, method)
			err, _ := results[len(results)-1].Interface().(error)
			if ctx, derives := results[0].Interface().(context.Context); derives {
				err = context.Cause(ctx)
			}
			if !errors.Is(err, ErrInvalidOption) {
				t.Errorf("%s without a context: %v", what, err)
			}
		}
	}
	for _, without := range []string{"ReadWriteLock", "Owner", "Subject"} {
		delete(missing, without)
	}
	for name := range missing {
		t.Errorf("%s is not tried", name)
	}
	if after := keys(); after != before {
		t.Errorf("%v, want %v", after, before)
	}
	if err := errors.Join(all.Err(), some.Err()); err != nil {
		t.Error(err)
	}
	select {
	case <-all.Done():
		t.Error("a MultiHold is over")
	case <-some.Done():
		t.Error("Permits are over")
	default:
	}
	if NoExpiry != luasrc.NoTTL {
		t.Errorf("NoExpiry is %d", NoExpiry)
	}
}
