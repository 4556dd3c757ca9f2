// Package wire has the messages of a fleet's controller and its agents, and the subjects of the
// bus on which they are sent. Messages are decoded strictly, because the bus may carry anybody's.
//
// The controller publishes commands: each agent receives its own and those to Everyone. An agent
// publishes events, which are not NATS replies. The bus lets an agent publish only under its own
// name, so the subject says who the sender is, and the message does not. The bus may belong to
// somebody else; therefore whatever can begin, change or end a load is signed: see Order and
// Instruction.
//
//	final.go         the final: packed, and read within limits
//	instruction.go   signed instructions: begin, change, stop
//	limitedlog.go    a log that a flood cannot fill
//	nonce.go         nonces, by which the age of a message is known
//	order.go         the signed and sealed plan: opens it, within limits of size and depth
//	readable.go      text of others for a terminal
//	subscribe.go     a subscription with a bounded queue
//	wire.go          subjects, all other messages, strict decoding
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

// The prefixes of subjects. An agent's name and a verb follow.
const (
	commands = "dyno.cmd."
	events   = "dyno.ev."
)

// Everyone stands for all agents in the subject of a command. No agent has that name.
const Everyone = "all"

// The verbs of commands, the last word of their subject, with the type of the message.
const (
	WhoIsThere      = "who"   // DiscoveryQuery; agents answer with a Hello
	DeliverPlan     = "plan"  // Piece of a sealed Order
	OpenConnections = "open"  // Instruction: open connections
	SyncClock       = "sync"  // ClockSync
	Arm             = "arm"   // Instruction with a Start
	Heartbeat       = "beat"  // Instruction to Everyone: the run goes on
	Acknowledge     = "ack"   // Ack
	StopLoad        = "stop"  // Instruction with a Stop
	Reshard         = "share" // Instruction with a Shard
)

// The verbs of events, likewise.
const (
	Present         = "hello"  // Hello
	OrderAnswered   = "answer" // Answer to an Order
	ConnectionsOpen = "ready"  // RunRef: its connections are open
	ClockSynced     = "sync"   // ClockSync
	Armed           = "armed"  // RunRef: it knows when to begin
	Resharded       = "share"  // RunRef: it knows its new shard
	Alive           = "beat"   // RunRef: heartbeat of an agent that has a run
	Reported        = "report" // Report
)

// CommandSubject returns the subject of a command to an agent, or to Everyone.
func CommandSubject(agent, verb string) string { return commands + agent + "." + verb }

// EventSubject returns the subject of an agent's event.
func EventSubject(agent, what string) string { return events + agent + "." + what }

// CommandsPattern returns what an agent subscribes to, for its own name and for Everyone.
func CommandsPattern(agent string) string { return commands + agent + ".>" }

// ParseSubject returns the agent's name and the verb in a subject.
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

// ValidName reports whether s can be an agent's name, or is Everyone: letters, digits, - and _,
// up to 63.
func ValidName(s string) bool {
	other := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
			c != '-' && c != '_'
	}
	return s != "" && len(s) <= nameMax && !strings.ContainsFunc(s, other)
}

// A RunRef says which run a message belongs to, and which process of an agent (its epoch). A
// process that was started again has nothing to do with the runs of the one before.
type RunRef struct {
	Run   string `json:"run"`
	Epoch string `json:"epoch,omitempty"` // of the agent's process
}

// A DiscoveryQuery asks which agents are on the bus.
type DiscoveryQuery struct {
	QueryID string `json:"asked"` // repeated in the answers
}

// A Hello says that an agent is there, what it can do and what it may do.
type Hello struct {
	QueryID string `json:"asked"`
	Epoch   string `json:"epoch"`
	Busy    string `json:"busy,omitempty"` // ID of the run that it has; "": none

	// Reporting means that the load of that run is over, and its controller still waits for what
	// the agent measured.
	Reporting bool `json:"reporting,omitempty"`

	Version  string      `json:"version"`  // of dyno
	Geometry string      `json:"geometry"` // of its histograms
	Weight   int         `json:"weight"`   // of its part, relative to other agents
	Threads  int         `json:"threads"`  // that it would use for a load
	Host     result.Host `json:"host"`
	Watches  bool        `json:"watches,omitempty"` // it carries out no plan; see package watch
	Policy   string      `json:"policy"`            // as text
	Key      string      `json:"key"`               // public curve key that its plans are sealed to
	Proof    []byte      `json:"proof,omitempty"`   // its signature of KeyClaim
	Nonce    string      `json:"nonce"`             // an Order must contain the nonce of a Hello
	Clock    time.Time   `json:"clock"`             // its wall clock
}

// KeyClaim returns what the agent of that name signs to claim the curve key. Without the
// signature, the owner of the bus could replace the key and read what is sealed to it.
func (h Hello) KeyClaim(agent string) []byte {
	return []byte(agent + "\n" + h.Epoch + "\n" + h.Key)
}

// A Piece is a part of a sealed Order, which is too large for one message.
type Piece struct {
	RunRef
	From  string `json:"from"` // public curve key of the sender
	Index int    `json:"index"`
	Count int    `json:"count"`
	Data  []byte `json:"data"`
}

// An Answer says whether an agent accepts its Order.
type Answer struct {
	RunRef
	Refused string `json:"refused,omitempty"` // why it does not; "": it does
}

// A ClockSync queries an agent's clock, and is the answer too. The answer has the instants at
// which the query came and was answered, in ns of the agent's monotonic clock. The origin of that
// clock is arbitrary.
type ClockSync struct {
	RunRef
	Number     int   `json:"number"`
	ReceivedAt int64 `json:"asked,omitempty"`
	RepliedAt  int64 `json:"answered,omitempty"`
}

// A Shard is another part of the arrivals, from an instant on that is so many ns after the start:
// see load.Share.
type Shard struct {
	After   int64 `json:"after"`
	Part    int   `json:"part"`
	Weights []int `json:"weights"`
}

// An Ack acknowledges an agent's reports up to a number.
type Ack struct {
	RunRef
	Seq int64 `json:"seq"`
}

// A Stop says why a run is stopped.
type Stop struct {
	Aborted bool   `json:"aborted,omitempty"`  // because of what was measured
	RunOver bool   `json:"run_over,omitempty"` // the controller waits for no final
	Why     string `json:"why"`
}

// A Report is what an agent measured in an interval, or a piece of its Final. Reports are
// numbered from 1. An agent sends each again until it is acknowledged, so none is lost; the
// controller accepts them in order only, so none counts twice.
//
// The controller acknowledges reports, and not a stream of JetStream. That would acknowledge what
// the bus has, perhaps not yet on its disk, and the agent must know what the controller has
// counted.
type Report struct {
	RunRef
	Seq  int64                `json:"seq"`
	Tick *loadresult.Interval `json:"tick,omitempty"`
	Data []byte               `json:"data,omitempty"` // a piece of the Final
	Last bool                 `json:"last,omitempty"` // the last piece
}

// Sizes in bytes. MessageMax is the largest message, which is NATS' default. PieceMax of it are
// data of a Piece, and FinalPieceMax are data of a Report; base64 adds a third. They are small
// because a heartbeat has to wait for what is before it on a slow line.
const (
	MessageMax    = 1 << 20
	PieceMax      = 64 << 10
	FinalPieceMax = 32 << 10
	// BundleMax is how long a sealed Order may be, in bytes. Its plan contains bodies.
	BundleMax = 64 << 20
)

// Encode returns m as JSON. It is for no page, so it escapes nothing of HTML: a plan's bodies may
// have much of it.
func Encode(m any) []byte {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if err := to.Encode(m); err != nil {
		panic(err) // of plain values
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Decode decodes a message into to. Unknown fields, and anything after the message, are errors.
func Decode(b []byte, to any) error {
	if len(b) > MessageMax {
		return fmt.Errorf("a message of %d bytes; %d at most", len(b), MessageMax)
	}
	return decodeStrict(b, to, messageShape)
}

// A shape is how many values a JSON text has, how many are in the longest of its lists or objects,
// and how deep these lie in one another. A value takes much more memory than its text, one that
// nests most: {"Probe":{"Probe":{}}} is a result in a result.
type shape struct{ values, list, depth int }

// depthMax is how deep the values of a message may lie. Those that dyno sends are at most 8 deep.
const depthMax = 16

var messageShape = shape{values: 64 << 10, list: 64 << 10, depth: depthMax}

// decodeStrict is Decode without a limit of length, and with limits of the text's shape.
func decodeStrict(b []byte, to any, most shape) error {
	is := shapeOf(b, most.depth)
	for _, c := range []struct {
		is, most int
		what     string
	}{{is.values, most.values, "it has %d values"}, {is.depth, most.depth, "its values lie %d deep"},
		{is.list, most.list, "a list of it has %d values"}} {
		if c.is > c.most {
			return fmt.Errorf("reading a message of the fleet: "+c.what+"; %d at most", c.is, c.most)
		}
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

// shapeOf returns the shape of a JSON text, up to where it is deeper than most. Its values are an
// upper bound: the commas and opening brackets outside strings.
func shapeOf(b []byte, most int) (s shape) {
	var in []int // values so far of each list or object that is open
	for i, inString := 0, false; i < len(b) && s.depth <= most; i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			in = append(in, 1)
			s.values, s.depth = s.values+1, max(s.depth, len(in))
		case c == ',' && len(in) > 0:
			in[len(in)-1]++
			s.values, s.list = s.values+1, max(s.list, in[len(in)-1])
		case (c == ']' || c == '}') && len(in) > 0:
			in = in[:len(in)-1]
		}
	}
	return s
}

// SplitPieces splits b into pieces of size bytes, the last of which may be shorter. There is at
// least one.
func SplitPieces(b []byte, size int) (pieces [][]byte) {
	for len(b) > size {
		pieces, b = append(pieces, b[:size]), b[size:]
	}
	return append(pieces, b)
}
