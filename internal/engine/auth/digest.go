package auth

import (
	"strings"
	"time"

	"github.com/icholy/digest"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
)

// A digester answers challenges: of each user the last one, counted, until the server has another.
// So the first request of a user is sent twice, as curl sends it, and the others are not.
type digester struct{ user, password string }

// longest is how many bytes of a challenge are read. Servers write a few hundred.
const longest = 4 << 10

// A challenge is what a user was asked, and how often it has answered.
type challenge struct {
	asks  *digest.Challenge // nil: nothing yet
	count int
}

// take takes the first challenge of a response that can be answered. It reports whether there is
// one.
func (c *challenge) take(r *scenario.Response) bool {
	for i := range r.Fields() {
		name, value, _ := r.FieldAt(i)
		if string(name) != challengeField || len(value) > longest {
			continue
		}
		asks, err := digest.ParseChallenge(string(value))
		if err != nil {
			continue
		}
		for k := range asks.QOP { // "auth,auth-int" and "auth, auth-int" are the same
			asks.QOP[k] = strings.TrimSpace(asks.QOP[k])
		}
		if digest.CanDigest(asks) && (len(asks.QOP) == 0 || asks.SupportsQOP("auth")) {
			*c = challenge{asks: asks}
			return true
		}
	}
	return false
}

// sign answers the user's challenge, if there is one.
func (d *digester) sign(u *user, _ time.Time) {
	c := &u.challenge
	if c.asks == nil {
		return
	}
	c.count++
	answer, err := digest.Digest(c.asks, digest.Options{Method: u.request.Method,
		URI: u.request.Path, Count: c.count, Username: d.user, Password: d.password})
	if err != nil {
		return // CanDigest says that there is none
	}
	text := answer.String()
	if proto.ValueProblem(proto.InHeader, []byte(text)) == "" {
		u.add("Authorization", text)
	}
}
