package bus

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A join token lets a machine ask a hub, once, to become an agent. It is an Access whose
// user may do nothing else, and ends soon.
const (
	tokenPrefix = "dyno-join." // by which one that got into a log is known for what it is
	tokenMax    = 16 << 10     // bytes
)

// EncodeToken is a as text: one line without spaces.
func (a Access) EncodeToken() string {
	b, err := json.Marshal(a)
	if err != nil {
		panic(err) // strings always can be
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b)
}

// ParseToken reads what Token writes; space around it does not matter.
func ParseToken(text string) (Access, error) {
	text = strings.TrimSpace(text)
	body, is := strings.CutPrefix(text, tokenPrefix)
	if !is {
		return Access{}, fmt.Errorf("a join token begins with %q; dyno fleet token makes one",
			tokenPrefix)
	}
	if len(body) > tokenMax {
		return Access{}, errors.New("a join token is not that long")
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil {
		return Access{}, errors.New("the join token is damaged: was all of it copied?")
	}
	var a Access
	if err := decodeStrict(b, &a); err != nil {
		return Access{}, fmt.Errorf("the join token is damaged: %w", err)
	}
	if err := a.checkAccess(); err != nil {
		return Access{}, fmt.Errorf("the join token is damaged: %w", err)
	}
	return a, nil
}

// TokenID is the name that the hub gave to the token, by which it can be revoked.
func (a Access) TokenID() string {
	c, err := a.parseClaims()
	if err != nil {
		return ""
	}
	return c.Name
}

// ExpiresAt is until when a may be used; zero is always.
func (a Access) ExpiresAt() time.Time {
	c, err := a.parseClaims()
	if err != nil || c.Expires == 0 {
		return time.Time{}
	}
	return time.Unix(c.Expires, 0)
}

// decodeStrict reads b, one JSON value, into v, and accepts nothing that v does not have.
func decodeStrict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("more follows where it should end")
	}
	return nil
}

// NameMax is how many characters the name of an agent may have: those of a DNS label.
const NameMax = 63

var nameForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// CheckAgentName says what is wrong with an agent's name, which is part of its subjects.
func CheckAgentName(name string) error {
	switch {
	case len(name) > NameMax:
		return fmt.Errorf("%q has %d characters, and a name at most %d", name, len(name), NameMax)
	case !nameForm.MatchString(name):
		return fmt.Errorf("%q is not a name: small letters, digits and dashes between them", name)
	case name == "all" || name == "hub" || name == ControllerName:
		return fmt.Errorf("%q means something else; choose another name", name)
	}
	return nil
}

// AgentNameFor is the name that an agent on a host gets if it asks for none.
func AgentNameFor(host string) string {
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(host, "-")
	name = strings.Trim(name[:min(len(name), NameMax)], "-")
	if CheckAgentName(name) != nil {
		return "agent"
	}
	return name
}
