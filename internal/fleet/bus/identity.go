package bus

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// An Identity makes a machine an agent of a fleet. It is kept in a file, so that the agent can be
// started again without another token.
type Identity struct {
	Access
	Name    string `json:"name"`
	PlanKey string `json:"plan_key"` // public key of the plans that it obeys
	Token   string `json:"token"`    // ID of the token by which it joined
}

// Connect connects to the bus as the agent i. leave is Settings.GiveUpAfter.
func (i Identity) Connect(leave time.Duration) (*Link, error) {
	return i.Access.Connect("what "+i.Name+" was given when it joined",
		Settings{Name: i.Name, GiveUpAfter: leave})
}

// agentTextPrefix precedes all that an agent signs. The same key answers NATS servers' nonces,
// and a server must not be able to get a signature of an agent's text that way.
const agentTextPrefix = "dyno agent: "

// SignText signs text as the agent i.
func (i Identity) SignText(text []byte) ([]byte, error) {
	key, err := nkeys.FromSeed([]byte(i.Seed))
	if err != nil {
		return nil, err
	}
	defer key.Wipe()
	return key.Sign(append([]byte(agentTextPrefix), text...))
}

// VerifyAgentText fails unless signature is what SignText made of text with the key whose public
// half is given.
func VerifyAgentText(public string, text, signature []byte) error {
	key, err := nkeys.FromPublicKey(public)
	if err != nil {
		return err
	}
	return key.Verify(append([]byte(agentTextPrefix), text...), signature)
}

func identityFolder(home string) string { return filepath.Join(home, "agents") }

// Save writes the identity to a file below home.
func (i Identity) Save(home string) error {
	err := WriteJSON(filepath.Join(identityFolder(home), i.Name+".json"), i)
	if err != nil {
		return fmt.Errorf("keeping the agent's identity: %w; DYNO_HOME names another place", err)
	}
	return nil
}

// Identities returns all identities below home, by name.
func Identities(home string) (all []Identity, err error) {
	files, err := filepath.Glob(filepath.Join(identityFolder(home), "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		var i Identity
		err := ReadJSON(path, &i)
		if err == nil {
			if err = i.checkAccess(); err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
		}
		if err != nil {
			return nil, kindError{ErrFile, fmt.Errorf("reading an agent's identity: %w; without that file "+
				"it can join again with a new token", err)}
		}
		all = append(all, i)
	}
	return all, nil
}

// newUserKey makes a NATS user's key pair.
func newUserKey() (public, seed string, err error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return "", "", err
	}
	if public, err = key.PublicKey(); err != nil {
		return "", "", err
	}
	b, err := key.Seed()
	return public, string(b), err
}

// Renew asks the hub for a new JWT and stores it in i and l. The hub refuses if two agents are
// connected under the name. Renew does not accept another plan key: control of a hub must not
// give control of its agents.
func (i *Identity) Renew(l *Link) error {
	var in Admission
	if err := QueryHub(l.Conn, RenewSubject(i.Name), struct{}{}, &in); err != nil {
		return err
	}
	if in.PlanKey != i.PlanKey {
		return Refusedf("the hub names another plan key than %s, whose plans %s obeys: if that is "+
			"meant, join with a new token", i.PlanKey, i.Name)
	}
	renewed := *i
	renewed.JWT = in.JWT
	if err := renewed.checkAccess(); err != nil {
		return fmt.Errorf("the hub's answer renews nothing: %w", err)
	}
	*i = renewed
	l.jwt.Store(&in.JWT)
	return nil
}

// renewalCheck is how often an agent checks whether its JWT is due for renewal.
const renewalCheck = 10 * time.Minute

// KeepRenewed renews i when half of its JWT's life is over, and passes it to save, until ctx
// ends. After a failure it tries again.
func (i Identity) KeepRenewed(ctx context.Context, l *Link, save func(Identity) error,
	log func(string)) {
	tick := time.NewTicker(renewalCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if !i.renewalDue(now) {
				continue
			}
			err := i.Renew(l)
			if err == nil {
				err = save(i)
			}
			if err != nil {
				log(fmt.Sprintf("renewing the agent's JWT: %v", err))
			}
		}
	}
}

// renewalDue reports whether half of the JWT's life is over.
func (i Identity) renewalDue(now time.Time) bool {
	c, err := i.parseClaims()
	return err == nil && c.Expires != 0 && now.Unix() >= renewalTime(c)
}

// renewalTime returns when half of a JWT's life is over, in Unix seconds.
func renewalTime(c *jwt.UserClaims) int64 { return c.IssuedAt + (c.Expires-c.IssuedAt)/2 }
