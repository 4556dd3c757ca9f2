package bus

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Join makes this machine an agent by a token. It makes the agent's private key, which never
// leaves the machine, and sets a.Key; the caller sets the other fields.
func Join(token Access, a JoinRequest) (Identity, error) {
	l, err := token.Connect("this token", Settings{Name: token.TokenID()})
	if err != nil {
		return Identity{}, err
	}
	defer l.Close()
	var seed string
	if a.Key, seed, err = newUserKey(); err != nil {
		return Identity{}, err
	}
	var in Admission
	if err := QueryHub(l.Conn, JoinSubject(token.TokenID()), a, &in); err != nil {
		return Identity{}, err
	}
	if err := errors.Join(CheckAgentName(in.Name), CheckPlanKey(in.PlanKey)); err != nil {
		return Identity{}, fmt.Errorf("the hub's answer makes no agent: %w", err)
	}
	return Identity{Access: Access{token.Addresses, token.Pin, in.JWT, seed}, Name: in.Name,
		PlanKey: in.PlanKey, Token: token.TokenID()}, nil
}

// Connect connects to the bus as the agent i. leave is Settings.GiveUpAfter.
func (i Identity) Connect(leave time.Duration) (*Link, error) {
	return i.Access.Connect("what "+i.Name+" was given when it joined",
		Settings{Name: i.Name, GiveUpAfter: leave})
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
