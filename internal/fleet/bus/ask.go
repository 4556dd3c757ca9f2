package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
)

// ControllerName is the name of whoever runs the fleet on the bus.
const ControllerName = "controller"

// What may be asked of a hub: a subject each. An agent may say what begins with its own
// name only, and whoever has a token nothing but its Join; the hub's server sees to that.
const (
	SubjectToken  = "dyno.hub.token"  // Order → Issued
	SubjectRevoke = "dyno.hub.revoke" // Name → nothing
	SubjectList   = "dyno.hub.list"   // nothing → Roll
	SubjectStop   = "dyno.hub.stop"   // nothing → nothing; the hub ends
	SubjectNote   = "dyno.hub.note"   // Note → nothing; it is in the audit log

	inboxPrefix = "_INBOX_"
	joinPrefix  = "dyno.hub.join."  // + token's ID: Application → Admission
	renewPrefix = "dyno.hub.renew." // + agent's name: nothing → Admission
)

// JoinSubject is where the token of that ID is to be shown.
func JoinSubject(id string) string { return joinPrefix + id }

// RenewSubject is where the agent of that name says that it is there, and gets a new JWT.
func RenewSubject(name string) string { return renewPrefix + name }

// An TokenRequest is of a join token.
type TokenRequest struct {
	Name string        `json:"name,omitempty"` // of the agent that it is for; "" is any
	From []string      `json:"from,omitempty"` // CIDRs that the agent may come from; none is any
	Life time.Duration `json:"life"`           // ns
}

// IssuedToken is a token, and by what it can be revoked.
type IssuedToken struct {
	ID    string `json:"id"`
	Token string `json:"token"`
}

// A RevokeRequest is what is to be revoked: an agent, or a token by its ID.
type RevokeRequest struct {
	Name string `json:"name"`
}

// A AuditNote is of what a controller does, as a load that it begins.
type AuditNote struct {
	Text string `json:"text"`
}

// An JoinRequest is of a machine that has a token and wants to be an agent.
type JoinRequest struct {
	Key     string `json:"key"`            // its public key; the private one stays with it
	Name    string `json:"name,omitempty"` // that it asks for
	Host    string `json:"host"`           // what its system calls it
	Version string `json:"version"`        // of dyno
}

// An Admission makes an agent.
type Admission struct {
	Name    string `json:"name"`
	JWT     string `json:"jwt"`
	PlanKey string `json:"plan_key"` // whose plans it is to obey
}

// A Roster is who belongs to a fleet, and who may come.
type Roster struct {
	Agents []EnrolledAgent `json:"agents"`
	Tokens []PendingToken  `json:"tokens"` // that nobody has used and that have not expired
}

// An EnrolledAgent is an agent as the hub knows it.
type EnrolledAgent struct {
	Name      string    `json:"name"`
	Joined    time.Time `json:"joined"`
	Seen      time.Time `json:"seen"`              // when it last asked for a JWT
	Version   string    `json:"version"`           // of dyno, when it joined
	Address   string    `json:"address,omitempty"` // that it is connected from; "" is not connected
	Connected time.Time `json:"connected,omitzero"`
	Revoked   time.Time `json:"revoked,omitzero"`
}

// A PendingToken is a token that may still be used.
type PendingToken struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Expires time.Time `json:"expires"`
}

// A HubReply is what a hub says to what it was asked.
type HubReply struct {
	Refused string          `json:"refused,omitempty"` // why there is no answer
	Answer  json.RawMessage `json:"answer,omitempty"`
}

// QueryHub asks the hub, and reads its answer into answer unless that is nil. What the hub
// does not want to do is ErrRefused with its reason.
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

// AgentPermissions is what the agent of that name may do on the bus.
func AgentPermissions(name string) jwt.Permissions {
	says := jwt.StringList{"dyno.ev." + name + ".>", RenewSubject(name)}
	hears := jwt.StringList{"dyno.cmd.all.>", "dyno.cmd." + name + ".>", InboxPrefix(name) + ">"}
	return jwt.Permissions{Pub: jwt.Permission{Allow: says}, Sub: jwt.Permission{Allow: hears}}
}

// JoinPermissions is what whoever has the token of that ID may do.
func JoinPermissions(id string) jwt.Permissions {
	return jwt.Permissions{
		Pub: jwt.Permission{Allow: jwt.StringList{JoinSubject(id)}},
		Sub: jwt.Permission{Allow: jwt.StringList{InboxPrefix(id) + ">"}},
	}
}

// ControllerPermissions is what whoever runs the fleet may do.
func ControllerPermissions() jwt.Permissions {
	all := jwt.StringList{"dyno.>", InboxPrefix(ControllerName) + ">"}
	return jwt.Permissions{Pub: jwt.Permission{Allow: all}, Sub: jwt.Permission{Allow: all}}
}

// InboxPrefix is how the subjects begin at which answers to a name come.
func InboxPrefix(name string) string { return inboxPrefix + name + "." }

// Printable is text of somebody else's on one line, without what a terminal would obey.
func Printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c == unicode.ReplacementChar || !unicode.IsPrint(c) {
			return '·'
		}
		return c
	}, text)
}
