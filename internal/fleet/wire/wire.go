// Package wire is what a fleet's controller and its agents say to each other about
// runs: subjects of the bus and the messages on them. Whoever reads one reads it
// strictly, for the bus carries them past others.
//
// Nobody answers a message as such: the controller publishes commands, of which every
// agent hears its own and those for all, and an agent publishes events, of which the
// bus lets it have only its own. So who said something is in the subject, where the
// bus has seen to it, and not in the message. As the bus may be somebody else's, what
// bears on load is signed besides: see Order and Instruction.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/result"
)

// The roots of subjects: an agent's name and a verb follow.
const (
	commands = "dyno.cmd."
	events   = "dyno.ev."
)

// Everyone is the name of no agent: commands to it are for all.
const Everyone = "all"

// What a controller commands. Each is the last word of a subject, and has a message.
const (
	WhoIsThere      = "who"   // Who; agents answer with a Hello
	DeliverPlan     = "plan"  // Piece of a sealed Order
	OpenConnections = "open"  // Instruction: open connections
	SyncClock       = "sync"  // Sync
	Arm             = "arm"   // Instruction with a Start
	Heartbeat       = "beat"  // Instruction to Everyone: the controller is there, which has that run
	Acknowledge     = "ack"   // Ack
	StopLoad        = "stop"  // Instruction with a Stop
	Reshard         = "share" // Instruction with a Share
)

// What an agent tells, likewise.
const (
	Present         = "hello"  // Hello
	OrderAnswered   = "answer" // Answer to an Order
	ConnectionsOpen = "ready"  // Of: its connections are open
	ClockSynced     = "sync"   // Sync
	Armed           = "armed"  // Of: it knows when to start
	Resharded       = "share"  // Of: it knows its other share
	Alive           = "beat"   // Of: it has that run
	Reported        = "report" // Report
)

// CommandSubject is the subject of a command to an agent, or to Everyone.
func CommandSubject(agent, verb string) string { return commands + agent + "." + verb }

// EventSubject is the subject of what an agent tells.
func EventSubject(agent, what string) string { return events + agent + "." + what }

// CommandsPattern is what the agent of that name, or everyone, subscribes to.
func CommandsPattern(agent string) string { return commands + agent + ".>" }

// ParseSubject is of a subject the agent's name and what was said.
func ParseSubject(subject string) (agent, what string, ok bool) {
	suffix, found := strings.CutPrefix(subject, commands)
	if !found {
		suffix, found = strings.CutPrefix(subject, events)
	}
	agent, what, cut := strings.Cut(suffix, ".")
	return agent, what, found && cut && ValidName(agent) && !strings.Contains(what, ".")
}

// nameMax is how many characters an agent's name may have.
const nameMax = 63

// ValidName reports whether an agent can be called s, or s is Everyone: letters, digits,
// - and _, up to 63.
func ValidName(s string) bool {
	other := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
			c != '-' && c != '_'
	}
	return s != "" && len(s) <= nameMax && !strings.ContainsFunc(s, other)
}

// RunRef says which run a message belongs to, and which life of an agent. A process that was
// started again is another life, which has nothing to do with the runs of the one before.
type RunRef struct {
	Run   string `json:"run"`
	Epoch string `json:"epoch,omitempty"` // of the agent
}

// DiscoveryQuery asks who is there.
type DiscoveryQuery struct {
	QueryID string `json:"asked"` // that the answers repeat
}

// A Hello is who is there, and what it can and may do.
type Hello struct {
	QueryID  string      `json:"asked"`
	Epoch    string      `json:"epoch"`
	Busy     string      `json:"busy,omitempty"` // the run that it has
	Version  string      `json:"version"`        // of dyno
	Geometry string      `json:"geometry"`       // of its histograms
	Weight   int         `json:"weight"`         // of its share, beside those of others
	Threads  int         `json:"threads"`        // that it would use
	Host     result.Host `json:"host"`
	Watches  bool        `json:"watches,omitempty"` // it never loads, but watches where it is
	Policy   string      `json:"policy"`            // in words
	Key      string      `json:"key"`               // public curve key that plans are sealed to
	Proof    []byte      `json:"proof,omitempty"`   // its signature of Claim
	Nonce    string      `json:"nonce"`             // that an Order to it must have, as one Hello has
	Clock    time.Time   `json:"clock"`             // its wall's
}

// KeyClaim is what the agent of that name signs to say that the curve key is its own: who owns
// the bus could put another in its place, and read what is sealed to it.
func (h Hello) KeyClaim(agent string) []byte {
	return []byte(agent + "\n" + h.Epoch + "\n" + h.Key)
}

// A Piece is a part of something that is too large for one message.
type Piece struct {
	RunRef
	From  string `json:"from"` // public curve key of who sealed it
	Index int    `json:"index"`
	Count int    `json:"count"`
	Data  []byte `json:"data"`
}

// An Answer says whether an agent will do as its Order says.
type Answer struct {
	RunRef
	Refused string `json:"refused,omitempty"` // why it will not
}

// A ClockSync is a question for an agent's clock, and the answer: both of the instants at which
// it was asked and answered, in ns of its own monotonic clock, of which nobody knows when
// it began.
type ClockSync struct {
	RunRef
	Number     int   `json:"number"`
	ReceivedAt int64 `json:"asked,omitempty"`
	RepliedAt  int64 `json:"answered,omitempty"`
}

// A Shard is another share of the arrivals, from an instant after the start on, in ns: see
// load.Share.
type Shard struct {
	After   int64 `json:"after"`
	Part    int   `json:"part"`
	Weights []int `json:"weights"`
}

// An Ack says which reports of an agent have come, all up to that one.
type Ack struct {
	RunRef
	Seq int64 `json:"seq"`
}

// A Stop says why a run ends.
type Stop struct {
	Aborted bool   `json:"aborted,omitempty"` // because of what was measured
	Why     string `json:"why"`
}

// A Report is what an agent measured in an interval, or a piece of its Final. An agent
// numbers its reports from 1 and says each again until it is acknowledged, so none is lost
// and, as they are only taken in order, none counts twice.
type Report struct {
	RunRef
	Seq  int64          `json:"seq"`
	Tick *load.Interval `json:"tick,omitempty"`
	Data []byte         `json:"data,omitempty"` // FinalPiece of a part of the Final, or its rest
	Last bool           `json:"last,omitempty"` // and the last of that part
}

// MessageMax is how many bytes a message may have, which is what NATS carries unless told
// otherwise. PieceMax of them are the data of a Piece of an Order, and FinalPiece those of a
// Report: base64 adds a third. A beat has to wait on a slow line until what is before it has gone.
const (
	MessageMax    = 1 << 20
	PieceMax      = 64 << 10
	FinalPieceMax = 32 << 10
	// messageValuesMax is how many values a message may have: each takes many times as much memory
	// as its text.
	messageValuesMax = 64 << 10
	// BundleMax is how long what was cut into pieces may be, in bytes: bodies of a plan.
	BundleMax = 64 << 20
)

// Encode is m as it is sent.
func Encode(m any) []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // of plain values
	}
	return b
}

// Decode reads a message into to, all of it and nothing else.
func Decode(b []byte, to any) error {
	if len(b) > MessageMax {
		return fmt.Errorf("a message of %d bytes; %d at most", len(b), MessageMax)
	}
	return decodeStrict(b, to, messageValuesMax)
}

// decodeStrict is Decode of any length, and of so many values at most.
func decodeStrict(b []byte, to any, most int) error {
	if n := countValues(b); n > most {
		return fmt.Errorf("reading a message of the fleet: it has %d values; %d at most", n, most)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("reading a message of the fleet: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("reading a message of the fleet: something follows it")
	}
	return nil
}

// countValues is how many values a JSON text has at most, and names of them: all that a comma
// follows or a bracket holds.
func countValues(b []byte) (n int) {
	for i, inString := 0, false; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// SplitPieces is b in pieces of so many bytes, but for the last: one at least.
func SplitPieces(b []byte, size int) (pieces [][]byte) {
	for len(b) > size {
		pieces, b = append(pieces, b[:size]), b[size:]
	}
	return append(pieces, b)
}
