package bus

import (
	"errors"
	"fmt"
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
