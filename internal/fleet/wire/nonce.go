package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// NonceLife is how old a nonce may be. A plan of many megabytes for many agents must be there
// by then.
const NonceLife = 4 * time.Minute

// Nonces are what an agent gives out and wants to have back in what it is to do: what was
// recorded, or held up, is of no use later. A nonce says when it was given out, by the
// agent's clock in ns, and nobody else can make one.
type Nonces struct {
	Key  []byte
	Void int64 // those that were given out until then are of no use any more
}

// Issue is the nonce to give out at an instant.
func (n Nonces) Issue(now int64) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(now))
	code := hmac.New(sha256.New, n.Key)
	code.Write(b)
	return hex.EncodeToString(code.Sum(b))
}

// IssuedAt is when a nonce was given out, if it is good at an instant.
func (n Nonces) IssuedAt(nonce string, now int64) (at int64, good bool) {
	b, err := hex.DecodeString(nonce)
	if err != nil || len(b) < 8 {
		return 0, false
	}
	at = int64(binary.BigEndian.Uint64(b))
	mine := hmac.Equal([]byte(nonce), []byte(n.Issue(at)))
	return at, mine && at > n.Void && now-at <= int64(NonceLife)
}
