package pubsub

import "errors"

// reply is a decoded reply of the server. In RESP2, which the connection uses,
// answers and messages come in one stream and differ only by their first element.
type reply struct {
	kind    replyKind
	sharded bool // it is about a sharded channel
	channel []byte
	payload []byte
	keys    [][]byte // of an invalidation, instead of payload; a nil key means all keys
}

type replyKind uint8

const (
	replyOther        replyKind = iota // ignored by the hub
	replyMessage                       // message, smessage
	replySubscribed                    // subscribe, ssubscribe
	replyUnsubscribed                  // unsubscribe, sunsubscribe
	replyPong                          // +PONG, or an array while something is subscribed
)

var errShape = errors.New("pubsub: unexpected answer: wrong shape")

// pushes are the arrays that the hub handles, by their first element.
var pushes = map[string]reply{
	"message":      {kind: replyMessage},
	"smessage":     {kind: replyMessage, sharded: true},
	"subscribe":    {kind: replySubscribed},
	"ssubscribe":   {kind: replySubscribed, sharded: true},
	"unsubscribe":  {kind: replyUnsubscribed},
	"sunsubscribe": {kind: replyUnsubscribed, sharded: true},
	"pong":         {kind: replyPong},
}

// decode reads what redigo returned. It fails if a reply is neither PONG nor an array that
// begins with text, or if a known kind has the wrong elements: then no later answer can be
// matched to its command.
func decode(v any) (r reply, err error) {
	if v == "PONG" {
		return reply{kind: replyPong}, nil
	}
	elements, _ := v.([]any)
	if len(elements) == 0 {
		return r, errShape
	}
	first, ok := text(elements[0])
	if !ok {
		return r, errShape
	}
	if r = pushes[string(first)]; r.kind == replyOther || r.kind == replyPong {
		return r, nil
	}
	if len(elements) != 3 {
		return r, errShape
	}
	if r.channel, ok = text(elements[1]); !ok {
		// Only the answer to an UNSUBSCRIBE without channels names nil, and the
		// hub never sends that.
		return r, errShape
	}
	if r.kind == replyMessage {
		err = r.take(elements[2])
	}
	return r, err
}

// take reads the content of a message: its payload, or the keys of an invalidation, which
// other connections have read and which have changed (CLIENT TRACKING … REDIRECT). Nil
// means that all keys may have changed.
func (r *reply) take(v any) error {
	keys, list := v.([]any)
	if v != nil && !list {
		var ok bool
		if r.payload, ok = text(v); !ok {
			return errShape
		}
		return nil
	}
	for _, k := range keys {
		key, ok := text(k)
		if !ok {
			return errShape
		}
		r.keys = append(r.keys, key)
	}
	if len(keys) == 0 {
		r.keys = [][]byte{nil}
	}
	return nil
}

// text accepts both string types of the protocol.
func text(v any) ([]byte, bool) {
	switch v := v.(type) {
	case []byte:
		return v, true
	case string:
		return []byte(v), true
	}
	return nil, false
}
