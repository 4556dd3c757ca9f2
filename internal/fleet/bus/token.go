package bus

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A join token lets a machine become an agent, once. It is an encoded Access whose user may send
// a JoinRequest and nothing else, and which expires soon.
const (
	tokenPrefix = "dyno-join." // by which a token is recognised, for example in a log
	tokenMax    = 16 << 10     // bytes
)

// EncodeToken returns a as text: one line without spaces.
func (a Access) EncodeToken() string {
	b, err := json.Marshal(a)
	if err != nil {
		panic(err) // strings always can be
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b)
}

// ParseToken reads what EncodeToken wrote. It ignores space around it.
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

// TokenID returns the ID that the hub gave to the token. It can be revoked by that.
func (a Access) TokenID() string {
	c, err := a.parseClaims()
	if err != nil {
		return ""
	}
	return c.Name
}

// ExpiresAt returns when a expires; the zero time is never.
func (a Access) ExpiresAt() time.Time {
	c, err := a.parseClaims()
	if err != nil || c.Expires == 0 {
		return time.Time{}
	}
	return time.Unix(c.Expires, 0)
}

// decodeStrict decodes b, one JSON value, into v. Fields that v does not have are an error.
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
