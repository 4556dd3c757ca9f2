// Package watch measures what a server uses on another machine during a run. An Agent there
// samples the requested processes, and at the end returns what they used in the window of the
// run.
//
// The two machines' clocks are never compared. The controller says how long ago the window was;
// the error is the time that this message takes, and the samples are a fifth of a second apart.
// The controller repeats its question until it is answered, so no loss is final.
//
//	agent.go        the agent's side: samples processes
//	controller.go   the controller's side: asks until it is answered
//	watch.go        the messages
package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"dyno/internal/fleet/wire"
	"dyno/internal/observe/probe"
)

const (
	verb = "watch" // the last word of the subjects

	watchTimeout      = 15 * time.Second // an agent that hears nothing for so long ends a watch
	keepAliveInterval = 3 * time.Second  // between the controller's messages that keep a watch
	resendInterval    = time.Second      // after which an unanswered question is repeated
	answerTimeout     = 10 * time.Second // after which it is given up
	watchesMax        = 8                // at a time, on one machine

	queuedMessagesMax = 1 << 10 // messages that wait to be read, and their bytes
	queuedBytesMax    = 1 << 20
)

// A question is what a controller wants. The first with an ID begins a watch, the next ones keep
// it, and one with a window ends it. It cannot be replayed: the first contains a nonce that the
// agent has just issued, and the numbers of the others grow.
type question struct {
	ID        string        `json:"id"`
	Agent     string        `json:"agent"`           // that it is for
	Nonce     string        `json:"nonce,omitempty"` // of the agent's last answer
	Number    int64         `json:"number"`          // larger than of all before it in the watch
	Processes []string      `json:"processes"`
	Ago       time.Duration `json:"ago,omitempty"`  // ns since the window began
	Long      time.Duration `json:"long,omitempty"` // length of the window, ns; 0: no window
}

// A signed is a question with its signature.
type signed struct {
	Question  []byte `json:"question"`
	Signature []byte `json:"signature"`
}

// An answer is the reply to a question.
type answer struct {
	ID    string `json:"id"`
	Nonce string `json:"nonce,omitempty"` // nothing was begun: ask again with this nonce
	Fault string `json:"fault,omitempty"`
	Seen  *Seen  `json:"seen,omitempty"` // in the window, if the question had one
}

// Seen is what was used in a window on the agent's machine.
type Seen struct {
	Trees       []probe.Use   `json:"trees"`
	Host        probe.HostUse `json:"host"`
	Sampler     probe.Cost    `json:"sampler"`
	Unavailable []string      `json:"unavailable,omitempty"`
}

// decodeStrict decodes b, one JSON value of limited length, into v. Fields that v does not have
// are an error.
func decodeStrict(b []byte, v any) error {
	if len(b) > wire.MessageMax {
		return fmt.Errorf("a message of %d bytes; %d at most", len(b), wire.MessageMax)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("reading what is watched: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("reading what is watched: something follows it")
	}
	return nil
}
