package auth

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/icholy/digest"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
)

// A digester answers challenges: of each user the last one, counted, until the server has another.
// So the first request of a user is sent twice, as curl sends it, and the others are not.
type digester struct{ user, password string }

// longest is how many bytes of a field of challenges are read. Servers write a few hundred.
const longest = 4 << 10

// A challenge is what a user was asked, and how often it has answered.
type challenge struct {
	asks  *digest.Challenge // nil: nothing yet
	count int
}

// algorithms are those that can be answered, each stronger than those before it.
var algorithms = []string{"MD5", "SHA-256", "SHA-512-256", "SHA-512"}

// challengesOf are the fields of a response that have challenges.
func challengesOf(r *scenario.Response) (fields []string) {
	for i := range r.Fields() {
		if name, value, _ := r.FieldAt(i); string(name) == challengeField {
			fields = append(fields, string(value))
		}
	}
	return fields
}

// take takes, of the challenges of a response's fields, the strongest that can be answered; of
// equals the first. It reports whether there is one.
func (c *challenge) take(fields []string) bool {
	best := -1
	for _, field := range fields {
		if len(field) > longest {
			continue
		}
		eachChallenge(field, func(asks *digest.Challenge) {
			if strength := strengthOf(asks); strength > best {
				best, *c = strength, challenge{asks: asks}
			}
		})
	}
	return best >= 0
}

// strengthOf is how strong the answer to a challenge is; -1: there is none.
func strengthOf(asks *digest.Challenge) int {
	switch {
	case asks.Nonce == "", len(asks.QOP) > 0 && !asks.SupportsQOP("auth"):
		return -1
	case asks.Algorithm == "":
		return 0
	}
	return slices.Index(algorithms, strings.ToUpper(asks.Algorithm))
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
		return // strengthOf says that there is none
	}
	text := answerText(answer)
	if proto.ValueProblem(proto.InHeader, []byte(text)) == "" {
		u.add("Authorization", text)
	}
}

// answerText is the field of an answer. Quotes keep each byte as the server wrote it, also those of
// a realm that is no UTF-8.
func answerText(a *digest.Credentials) string {
	text := fmt.Sprintf("Digest username=%s, realm=%s, nonce=%s, uri=%s", quoted(a.Username),
		quoted(a.Realm), quoted(a.Nonce), quoted(a.URI))
	if a.Algorithm != "" {
		text += ", algorithm=" + a.Algorithm
	}
	if a.QOP != "" {
		text += fmt.Sprintf(", cnonce=%s, qop=%s, nc=%08x", quoted(a.Cnonce), a.QOP, a.Nc)
	}
	if a.Opaque != "" {
		text += ", opaque=" + quoted(a.Opaque)
	}
	if a.Userhash {
		text += ", userhash=true"
	}
	return text + ", response=" + quoted(a.Response)
}

var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func quoted(s string) string { return `"` + quoting.Replace(s) + `"` }
