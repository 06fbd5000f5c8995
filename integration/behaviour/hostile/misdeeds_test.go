package hostile

import (
	"io"
	"net"
	"strings"
	"time"
)

// sort says what a client can make of a misdeed.
type sort int

const (
	wrong   sort = iota // a well-formed reply of a type that may or may not be right here
	refusal             // an error reply
	deadly              // the connection is no longer usable
)

type misdeed struct {
	what string
	sort sort
	text string
	do   func(p *peer, text string)
}

// says sends the text once; then the server goes on normally.
func says(p *peer, text string) { _, _ = p.Write([]byte(text)) }

func saysAndHangs(p *peer, text string) {
	says(p, text)
	p.silent()
}

func saysAndEnds(p *peer, text string) {
	says(p, text)
	p.Close()
}

// floods sends the text without end. It allocates next to nothing: TestMemoryIsBounded… looks at the whole process.
func floods(p *peer, text string) {
	r := strings.NewReader(text)
	if len(text) < 1<<10 {
		r.Reset(strings.Repeat(text, 16<<10/len(text)))
	}
	piece := make([]byte, 16<<10)
	for {
		_, _ = r.Seek(0, io.SeekStart)
		if _, err := io.CopyBuffer(struct{ io.Writer }{p}, struct{ io.Reader }{r}, piece); err != nil {
			return
		}
	}
}

func floodsAfter(head string) func(*peer, string) {
	return func(p *peer, text string) {
		says(p, head)
		floods(p, text)
	}
}

func drips(p *peer, text string) {
	for {
		if _, err := p.Write([]byte(text)); err != nil {
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}

func resets(p *peer, _ string) {
	_ = p.Conn.(*net.TCPConn).SetLinger(0)
	p.Close()
}

const stranger = "*3\r\n$7\r\nmessage\r\n$18\r\nnobody asked for it\r\n$1\r\n0\r\n"

var misdeeds = []misdeed{
	{"a status", wrong, "+WHAT\r\n", says},
	{"an empty status", wrong, "+\r\n", says},
	{"an integer", wrong, ":7\r\n", says},
	{"an integer beyond 64 bits", wrong, ":99999999999999999999\r\n", says},
	{"a negative integer", wrong, ":-9\r\n", says},
	{"a bulk string", wrong, "$5\r\nhello\r\n", says},
	{"nil", wrong, "$-1\r\n", says},
	{"a nil array", wrong, "*-1\r\n", says},
	{"an empty array", wrong, "*0\r\n", says},
	{"an array of integers", wrong, "*2\r\n:1\r\n:1\r\n", says},
	{"an array of errors", wrong, "*1\r\n-ERR inside\r\n", says},
	{"an array in an array in an array", wrong, "*1\r\n*1\r\n*1\r\n*0\r\n", says},

	{"an error", refusal, "-ERR I do not want to\r\n", says},
	{"an error without a word", refusal, "-\r\n", says},
	{"an error of 60,000 bytes", refusal, "-ERR " + strings.Repeat("x", 60_000) + "\r\n", says},
	{"an error with line feeds escaped", refusal, "-ERR a\x00b\x1b[2Jc\\n\r\n", says},
	{"an error that passes, for ever", refusal, "-LOADING Redis is loading the dataset in memory\r\n", says},
	{"that the script is missing, for ever", refusal, "-NOSCRIPT No matching script\r\n", says},

	{"an integer that is no number", deadly, ":one\r\n", says},
	{"a message for a channel that nobody asked for", deadly, "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$-7\r\n", says},
	{"RESP3", deadly, "%1\r\n+a\r\n:1\r\n", says},
	{"a RESP3 push", deadly, ">2\r\n+message\r\n+x\r\n", says},
	{"garbage", deadly, "\x00\xff\x7fwhat is this\r\n", says},
	{"HTTP", deadly, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", saysAndEnds},
	{"a length that memory can't hold", deadly, "$9223372036854775807\r\n", says},
	{"a length beyond 64 bits", deadly, "$99999999999999999999999\r\n", says},
	{"a length below nothing", deadly, "$-7\r\n", says},
	{"a length that is no number", deadly, "$five\r\nhello\r\n", says},
	{"a bulk string that is longer than it says", deadly, "$2\r\nhello\r\n", says},
	{"a bulk string of a gigabyte", deadly, "x", floodsAfter("$1073741824\r\n")},
	{"an array that memory can't hold", deadly, "*9223372036854775807\r\n", says},
	{"arrays in arrays without end", deadly, "*1\r\n", floods},
	{"a line without end", deadly, "x", floodsAfter("+")},
	{"a length without end", deadly, "0", floodsAfter("$")},
	{"a truncated bulk string and the end", deadly, "$10\r\nabc", saysAndEnds},
	{"a truncated bulk string and silence", deadly, "$10\r\nabc", saysAndHangs},
	{"a truncated length and silence", deadly, "$1", saysAndHangs},
	{"a truncated array and silence", deadly, "*3\r\n$9\r\nsubscribe\r\n", saysAndHangs},
	{"a byte now and then", deadly, "+", drips},
	{"silence", deadly, "", saysAndHangs},
	{"the end", deadly, "", saysAndEnds},
	{"a reset", deadly, "", resets},
}

// surplus are replies that nothing asked for. Their effect on a client depends on how much it reads, so the tests check
// only the bounds.
var surplus = []misdeed{
	{"integers without end", wrong, ":1\r\n", floods},
	{"errors without end", wrong, "-ERR again\r\n", floods},
	{"bulk strings of a megabyte without end", wrong, "$1048576\r\n" + strings.Repeat("x", 1<<20) + "\r\n", floods},
	{"arrays of a thousand megabytes", wrong, "$1048576\r\n" + strings.Repeat("x", 1<<20) + "\r\n", floodsAfter("*1000\r\n")},
	{"messages without end", wrong, stranger, floods},
	{"a stranger's message before the answer", wrong, stranger + ":1\r\n", says},
	{"a megabyte behind the answer", wrong, "$-1\r\n$1048576\r\n" + strings.Repeat("x", 1<<20) + "\r\n", says},
	{"two answers", wrong, ":1\r\n:1\r\n", says},
}
