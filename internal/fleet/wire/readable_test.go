package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// What agents say cannot do anything to a terminal.
func TestReadable(t *testing.T) {
	for s, want := range map[string]string{"no: 3 µs": "no: 3 µs", "a\x1b[2Jb\nc\x00": "a [2Jb c ", "\xff": "?",
		strings.Repeat("é", 600): strings.Repeat("é", 500)} {
		if got := Readable(s); got != want {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// What an agent complains of fills no disk, and how much it left out it says.
func TestComplaints(t *testing.T) {
	var said []string
	c := LimitedLog{Log: func(line string) { said = append(said, line) }}
	now := time.Now()
	for i := range 1000 {
		c.Print("ignored", fmt.Errorf("%d \x1b[2J", i), now.Add(time.Duration(i)*time.Millisecond))
	}
	if len(said) != linesMax || said[0] != "ignored: 0  [2J" {
		t.Errorf("%d lines, the first %q", len(said), said[0])
	}
	c.Print("ignored", errors.New("more"), now.Add(time.Minute))
	if got := said[linesMax:]; len(got) != 2 || got[0] != "and 940 more that were not done" || got[1] != "ignored: more" {
		t.Errorf("%q", got)
	}
	new(LimitedLog).Print("to nobody", errors.New("x"), now)
}

// A nonce is good for some minutes, and until an order has had one.
func TestNonces(t *testing.T) {
	const start = -3 * int64(time.Hour)
	n := Nonces{[]byte("key"), start}
	nonce := n.Issue(start + 1)
	changed := strings.Replace(nonce, nonce[:1], string(nonce[0]^1), 1)
	for _, c := range []struct {
		nonce string
		now   int64
		good  bool
	}{{nonce, start + 1, true}, {nonce, start + 1 + int64(NonceLife), true}, {nonce, start + 2 + int64(NonceLife), false},
		{n.Issue(start), start + 1, false}, {"", 0, false}, {"x", 0, false}, {"00", 0, false}, {nonce[:16], start + 1, false},
		{changed, start + 1, false}, {nonce + "00", start + 1, false}, {strings.ToUpper(nonce), start + 1, false},
		{Nonces{[]byte("another life"), start}.Issue(start + 1), start + 1, false}} {
		if at, good := n.IssuedAt(c.nonce, c.now); good != c.good || good && at != start+1 {
			t.Errorf("%q at %d: given at %d, good is %v", c.nonce, c.now-start, at-start, good)
		}
	}
	n.Void = start + 1
	if _, good := n.IssuedAt(nonce, start+1); good {
		t.Error("it is good twice")
	}
}
