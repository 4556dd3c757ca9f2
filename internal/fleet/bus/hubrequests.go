package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"
)

// ControllerName is the controller's name on the bus.
const ControllerName = "controller"

// The requests that a hub answers, each with its subject. The hub's server enforces who may send
// what: an agent only to subjects that contain its own name, and the holder of a token only its
// JoinRequest.
const (
	SubjectToken  = "dyno.hub.token"  // TokenRequest → IssuedToken
	SubjectRevoke = "dyno.hub.revoke" // RevokeRequest → nothing
	SubjectList   = "dyno.hub.list"   // nothing → Roster
	SubjectStop   = "dyno.hub.stop"   // nothing → nothing; the hub stops
	SubjectNote   = "dyno.hub.note"   // AuditNote → nothing; it is written to the audit log

	inboxRoot   = "_INBOX_"
	joinPrefix  = "dyno.hub.join."  // and the token's ID: JoinRequest → Admission
	renewPrefix = "dyno.hub.renew." // and the agent's name: nothing → Admission
)

// JoinSubject returns where a JoinRequest with the token of that ID is sent.
func JoinSubject(id string) string { return joinPrefix + id }

// RenewSubject returns where the agent of that name asks for a new JWT.
func RenewSubject(name string) string { return renewPrefix + name }

// A TokenRequest asks for a join token.
type TokenRequest struct {
	Name string        `json:"name,omitempty"` // of the agent that it is for; "": any
	From []string      `json:"from,omitempty"` // CIDRs that the agent may connect from; none: any
	Life time.Duration `json:"life"`           // until it expires, in ns
}

// An IssuedToken is a join token, and the ID by which it can be revoked.
type IssuedToken struct {
	ID    string `json:"id"`
	Token string `json:"token"`
}

// A RevokeRequest names what to revoke: an agent, or a token by its ID.
type RevokeRequest struct {
	Name string `json:"name"`
}

// An AuditNote is what a controller does, such as beginning a load.
type AuditNote struct {
	Text string `json:"text"`
}

// A JoinRequest asks to make a machine an agent.
type JoinRequest struct {
	Key     string `json:"key"`            // its public key; the private one never leaves the machine
	Name    string `json:"name,omitempty"` // that it would like; "": as the token or the host says
	Host    string `json:"host"`           // its host name
	Version string `json:"version"`        // of dyno
}

// An Admission makes a machine an agent.
type Admission struct {
	Name    string `json:"name"`
	JWT     string `json:"jwt"`
	PlanKey string `json:"plan_key"` // public key of the plans that the agent obeys
}

// A Roster lists the agents of a fleet, and the tokens by which others may join.
type Roster struct {
	Agents []EnrolledAgent `json:"agents"`
	Tokens []PendingToken  `json:"tokens"` // neither used nor expired
}

// An EnrolledAgent is an agent as the hub knows it.
type EnrolledAgent struct {
	Name      string    `json:"name"`
	Joined    time.Time `json:"joined"`
	Seen      time.Time `json:"seen"`              // when it last got a JWT
	Version   string    `json:"version"`           // of dyno when it joined
	Address   string    `json:"address,omitempty"` // that it is connected from; "": none
	Connected time.Time `json:"connected,omitzero"`
	Revoked   time.Time `json:"revoked,omitzero"`
}

// A PendingToken is a token that may still be used.
type PendingToken struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Expires time.Time `json:"expires"`
}

// A HubReply is the hub's reply to a request.
type HubReply struct {
	Refused string          `json:"refused,omitempty"` // why there is no answer; "": there is one
	Answer  json.RawMessage `json:"answer,omitempty"`
}

// QueryHub sends the hub a request and decodes its answer into answer, unless that is nil. The
// error is ErrRefused with the hub's reason, or ErrUnreachable.
func QueryHub(c *nats.Conn, subject string, question, answer any) error {
	b, err := json.Marshal(question)
	if err != nil {
		return err
	}
	m, err := c.Request(subject, b, requestTimeout)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w: on this bus there is no hub of dyno's", ErrUnreachable)
	case err != nil:
		return fmt.Errorf("the hub %w: it does not answer: %w", ErrUnreachable, err)
	}
	var r HubReply
	if err := decodeStrict(m.Data, &r); err != nil {
		return fmt.Errorf("the hub's answer cannot be read: %w", err)
	}
	if r.Refused != "" {
		return Refusedf("%s", Printable(r.Refused))
	}
	if answer == nil {
		return nil
	}
	if err := decodeStrict(r.Answer, answer); err != nil {
		return fmt.Errorf("the hub's answer cannot be read: %w", err)
	}
	return nil
}

// Printable returns untrusted text on one line and without control characters.
func Printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c == unicode.ReplacementChar || !unicode.IsPrint(c) {
			return '·'
		}
		return c
	}, text)
}
