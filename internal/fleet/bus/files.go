package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dyno/internal/atomicfile"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// WriteFile puts v as JSON into a file that only its owner may read, whole or not at all,
// in place of what was there; and into the folder, which it makes.
func WriteFile(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return replace(path, append(b, '\n'))
}

func replace(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, 0o600, atomicfile.ContentWriter(b))
}

// ReadFile reads what WriteFile wrote. One that is not there is fs.ErrNotExist.
func ReadFile(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := strictly(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// A Controller is the right to run the fleet of a hub that is up. Its file is there as
// long as the hub is.
type Controller struct {
	Access
	PID        int      `json:"pid"`        // the hub's process
	Advertised []string `json:"advertised"` // where agents reach it
}

func controllerFile(folder string) string { return filepath.Join(folder, "controller.json") }

// WriteController says in a fleet's folder how to run it.
func WriteController(folder string, c Controller) error {
	return WriteFile(controllerFile(folder), c)
}

// RemoveController is for when a hub ends.
func RemoveController(folder string) error {
	if err := os.Remove(controllerFile(folder)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadController reads how to run the fleet of that folder. If none is up, it is
// ErrUnreachable.
func ReadController(folder string) (c Controller, err error) {
	err = ReadFile(controllerFile(folder), &c)
	if errors.Is(err, fs.ErrNotExist) {
		return c, reason{ErrUnreachable, fmt.Errorf("no fleet is up on this machine (nothing in %s): "+
			"start one with dyno fleet up, or name another's bus with --nats", folder)}
	}
	if err != nil {
		return c, reason{ErrFile, fmt.Errorf("how to run this machine's fleet: %w", err)}
	}
	return c, nil
}

// Connect connects to the hub as the controller.
func (c Controller) Connect() (*Link, error) {
	l, err := c.Access.Connect("this machine's controller file", Settings{Name: Desk})
	if errors.Is(err, ErrUnreachable) {
		err = fmt.Errorf("%w; if dyno fleet up is not running, start it", err)
	}
	return l, err
}

// A PlanKey signs the plans of whoever runs a fleet. Agents obey it and no other, so that
// who owns the bus owns no agent.
type PlanKey struct {
	Public string
	seed   []byte
}

// OpenPlanKey is the plan key that a fleet's folder keeps; the first time it is made.
func OpenPlanKey(folder string) (PlanKey, error) {
	path := filepath.Join(folder, "plan.nk")
	seed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key, err := nkeys.CreateUser()
		if err != nil {
			return PlanKey{}, err
		}
		if seed, err = key.Seed(); err != nil {
			return PlanKey{}, err
		}
		if err := replace(path, append(seed, '\n')); err != nil {
			return PlanKey{}, reason{ErrFile, fmt.Errorf("keeping the plan key: %w", err)}
		}
	} else if err != nil {
		return PlanKey{}, reason{ErrFile, fmt.Errorf("reading the plan key: %w", err)}
	}
	seed = []byte(strings.TrimSpace(string(seed)))
	key, err := nkeys.FromSeed(seed)
	if err != nil {
		return PlanKey{}, reason{ErrFile, fmt.Errorf("%s is no key: %w", path, err)}
	}
	public, err := key.PublicKey()
	return PlanKey{public, seed}, err
}

// Sign signs a plan, or what else an agent is to do.
func (k PlanKey) Sign(plan []byte) ([]byte, error) {
	key, err := nkeys.FromSeed(k.seed)
	if err != nil {
		return nil, err
	}
	defer key.Wipe()
	return key.Sign(plan)
}

// CheckPlanKey says what is wrong with the public half of a plan key.
func CheckPlanKey(public string) error {
	if !nkeys.IsValidPublicUserKey(public) {
		return fmt.Errorf("%q is not a plan key: dyno fleet key prints it, where the fleet is run",
			public)
	}
	return nil
}

// Verify fails unless signature is that of plan by the plan key whose public half is given.
func Verify(public string, plan, signature []byte) error {
	key, err := nkeys.FromPublicKey(public)
	if err == nil {
		err = key.Verify(plan, signature)
	}
	if err != nil {
		return fmt.Errorf("it is not signed by %s, whose plans this agent obeys: %w", public, err)
	}
	return nil
}

// An Identity is what makes a machine an agent of a fleet. It is in a file, so that an
// agent can be started again without another token.
type Identity struct {
	Access
	Name    string `json:"name"`
	PlanKey string `json:"plan_key"` // public
	Token   string `json:"token"`    // the ID of that by which it joined
}

// own begins what an agent signs of its own accord. With the same key it answers servers, as
// they want: none of them must get its signature under something else.
const own = "dyno agent: "

// Sign signs text as the agent that i is.
func (i Identity) Sign(text []byte) ([]byte, error) {
	key, err := nkeys.FromSeed([]byte(i.Seed))
	if err != nil {
		return nil, err
	}
	defer key.Wipe()
	return key.Sign(append([]byte(own), text...))
}

// VerifyAgent fails unless signature is what an Identity's Sign has made of text, by the
// agent whose public key is given.
func VerifyAgent(public string, text, signature []byte) error {
	key, err := nkeys.FromPublicKey(public)
	if err != nil {
		return err
	}
	return key.Verify(append([]byte(own), text...), signature)
}

func identityFolder(home string) string { return filepath.Join(home, "agents") }

// Save keeps the identity under home.
func (i Identity) Save(home string) error {
	err := WriteFile(filepath.Join(identityFolder(home), i.Name+".json"), i)
	if err != nil {
		return fmt.Errorf("keeping the agent's identity: %w; DYNO_HOME names another place", err)
	}
	return nil
}

// Identities are all that home keeps, by name.
func Identities(home string) (all []Identity, err error) {
	files, err := filepath.Glob(filepath.Join(identityFolder(home), "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		var i Identity
		err := ReadFile(path, &i)
		if err == nil {
			if err = i.check(); err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
		}
		if err != nil {
			return nil, reason{ErrFile, fmt.Errorf("reading an agent's identity: %w; without that file "+
				"it can join again with a new token", err)}
		}
		all = append(all, i)
	}
	return all, nil
}

// newKey makes the key pair of a user.
func newKey() (public, seed string, err error) {
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

// halfway is when the half of a JWT's life is over.
func halfway(c *jwt.UserClaims) int64 { return c.IssuedAt + (c.Expires-c.IssuedAt)/2 }
