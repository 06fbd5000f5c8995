package codec

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/uuid"
)

const sampleUUID = "550e8400-e29b-41d4-a716-446655440000"

func TestOwnerField(t *testing.T) {
	client := uuid.MustParse(sampleUUID)
	for thread, want := range map[int64]string{
		0:             sampleUUID + ":0",
		31:            sampleUUID + ":31",
		-5:            sampleUUID + ":-5",
		math.MaxInt64: sampleUUID + ":9223372036854775807",
		math.MinInt64: sampleUUID + ":-9223372036854775808",
	} {
		if got := Owner(client, thread); got != want {
			t.Errorf("Owner(%d) = %q, want %q", thread, got, want)
		}
		gotClient, gotThread, err := ParseOwner(want)
		if gotClient != client || gotThread != thread || err != nil {
			t.Errorf("ParseOwner(%q) = %v, %d, %v", want, gotClient, gotThread, err)
		}
	}
}

func TestOwnersThatRedissonDoesNotWriteAreRefused(t *testing.T) {
	const colon, client, version, thread = "followed by a colon", "canonical lowercase UUID", "version 4", "canonical decimal"
	for s, rule := range map[string]string{
		"":                       colon,
		":":                      colon,
		"1":                      colon,
		sampleUUID:               colon,
		sampleUUID + "1":         colon,
		sampleUUID + " :1":       colon,
		"x" + sampleUUID + ":1":  colon,
		"{" + sampleUUID + "}:1": colon,
		"urn:uuid:550e8400-e29b-41d4-a716-446655440000:1":        colon,
		"550e8400e29b41d4a716446655440000:1":                     colon,
		strings.ToUpper(sampleUUID) + ":1":                       client,
		"550e8400-e29b-41d4-a716-44665544000g:1":                 client,
		"550e8400e-29b-41d4-a716-446655440000:1":                 client,
		strings.Repeat("\xff", 36) + ":1":                        client,
		"550e8400-e29b-11d4-a716-446655440000:1":                 version,
		"550e8400-e29b-71d4-a716-446655440000:1":                 version,
		"550e8400-e29b-41d4-2716-446655440000:1":                 version,
		"550e8400-e29b-41d4-c716-446655440000:1":                 version,
		uuid.Nil.String() + ":1":                                 version,
		uuid.Max.String() + ":1":                                 version,
		sampleUUID + ":":                                         thread,
		sampleUUID + "::1":                                       thread,
		sampleUUID + ":-":                                        thread,
		sampleUUID + ":+1":                                       thread,
		sampleUUID + ":-0":                                       thread,
		sampleUUID + ":01":                                       thread,
		sampleUUID + ":-01":                                      thread,
		sampleUUID + ": 1":                                       thread,
		sampleUUID + ":1 ":                                       thread,
		sampleUUID + ":1\n":                                      thread,
		sampleUUID + ":1_0":                                      thread,
		sampleUUID + ":0x1":                                      thread,
		sampleUUID + ":1.0":                                      thread,
		sampleUUID + ":1e3":                                      thread,
		sampleUUID + ":١":                                        thread,
		sampleUUID + ":9223372036854775808":                      thread,
		sampleUUID + ":-9223372036854775809":                     thread,
		sampleUUID + ":1:2":                                      thread,
		sampleUUID + ":" + strings.Repeat("9", 1_000_000) + "\n": thread,
	} {
		client, n, err := ParseOwner(s)
		if err == nil {
			t.Errorf("ParseOwner(%.90q) = %v, %d", s, client, n)
			continue
		}
		if client != uuid.Nil || n != 0 {
			t.Errorf("%.90q: values %v, %d beside an error", s, client, n)
		}
		if !strings.Contains(err.Error(), rule) {
			t.Errorf("%.90q: error %q does not tell the rule %q", s, err, rule)
		}
		if !strings.Contains(err.Error(), fmt.Sprintf("%.80q", s)) {
			t.Errorf("%.90q: error %q does not tell the value", s, err)
		}
		if len(err.Error()) > 600 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

// The owners that keep a released lock differ from each other, and from all that a client or Java uses.
func TestKeepersAreTheLowestThreads(t *testing.T) {
	for n, want := range map[int64]int64{0: math.MinInt64, 1: math.MinInt64 + 1, 1<<32 + 1: math.MinInt64 + 1, math.MaxInt64: math.MinInt64 + 1<<32 - 1} {
		if got := Keeper(n); got != want || !IsKeeper(got) {
			t.Errorf("Keeper(%d) = %d, want %d", n, got, want)
		}
	}
	for _, thread := range []int64{math.MinInt64 + 1<<32, -1, 0, 1, math.MaxInt64} {
		if IsKeeper(thread) {
			t.Errorf("%d is a keeper", thread)
		}
	}
}

func FuzzParseOwner(f *testing.F) {
	for _, s := range []string{
		"", ":", sampleUUID, sampleUUID + ":1", sampleUUID + ":-1", sampleUUID + ":-0", sampleUUID + ":007", sampleUUID + ":+1",
		sampleUUID + ":9223372036854775807", sampleUUID + ":9223372036854775808", strings.ToUpper(sampleUUID) + ":1",
		uuid.Nil.String() + ":1", strings.Repeat("-", 36) + ":1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		client, thread, err := ParseOwner(s)
		if err != nil {
			if len(err.Error()) > 600 {
				t.Errorf("an error of %d bytes for one of %d", len(err.Error()), len(s))
			}
			return
		}
		if got := Owner(client, thread); got != s {
			t.Errorf("%q came back as %q", s, got)
		}
		if client.Version() != 4 || client.Variant() != uuid.RFC4122 {
			t.Errorf("accepted the client id %v", client)
		}
	})
}

func FuzzOwnerRoundTrip(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), int64(0))
	f.Add([]byte{}, int64(math.MinInt64))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, random []byte, thread int64) {
		var client uuid.UUID
		copy(client[:], random)
		client[6] = client[6]&0x0f | 0x40 // version 4
		client[8] = client[8]&0x3f | 0x80 // RFC 4122
		gotClient, gotThread, err := ParseOwner(Owner(client, thread))
		if gotClient != client || gotThread != thread || err != nil {
			t.Errorf("%v:%d came back as %v:%d, %v", client, thread, gotClient, gotThread, err)
		}
	})
}
