package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// NonceLife is how long a nonce is valid. Within that, a plan of many megabytes must reach many
// agents.
const NonceLife = 4 * time.Minute

// Nonces issues and checks an agent's nonces. An order must contain a recent one, so recorded or
// delayed orders are of no use. A nonce is the instant at which it was issued, in ns of the
// agent's clock, with a code that only the agent can make.
type Nonces struct {
	Key  []byte
	Void int64 // nonces issued up to then are invalid
}

// Issue returns the nonce of an instant.
func (n Nonces) Issue(now int64) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(now))
	code := hmac.New(sha256.New, n.Key)
	code.Write(b)
	return hex.EncodeToString(code.Sum(b))
}

// IssuedAt returns when a nonce was issued, and whether it is valid at now.
func (n Nonces) IssuedAt(nonce string, now int64) (at int64, good bool) {
	b, err := hex.DecodeString(nonce)
	if err != nil || len(b) < 8 {
		return 0, false
	}
	at = int64(binary.BigEndian.Uint64(b))
	mine := hmac.Equal([]byte(nonce), []byte(n.Issue(at)))
	return at, mine && at > n.Void && now-at <= int64(NonceLife)
}
