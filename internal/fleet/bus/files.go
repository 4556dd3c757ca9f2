package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// WriteJSON writes v as JSON to a file that only its owner may read, atomically. It makes the
// folder if there is none.
func WriteJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(path, append(b, '\n'))
}

func replaceFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // which is 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if it has become the file
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// ReadJSON reads what WriteJSON wrote. The error is fs.ErrNotExist if there is no such file.
func ReadJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := decodeStrict(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// A Controller is the right to control the fleet of a hub that runs on this machine. Its file
// exists as long as the hub runs.
type Controller struct {
	Access
	PID        int      `json:"pid"`        // of the hub's process
	Advertised []string `json:"advertised"` // addresses at which agents reach the hub
}

func controllerFile(folder string) string { return filepath.Join(folder, "controller.json") }

// WriteController writes the controller's file into a fleet's folder.
func WriteController(folder string, c Controller) error {
	return WriteJSON(controllerFile(folder), c)
}

// RemoveController removes the controller's file. A missing file is no error.
func RemoveController(folder string) error {
	if err := os.Remove(controllerFile(folder)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadController reads the controller's file of a fleet's folder. The error is ErrUnreachable if
// no hub runs.
func ReadController(folder string) (c Controller, err error) {
	err = ReadJSON(controllerFile(folder), &c)
	if errors.Is(err, fs.ErrNotExist) {
		return c, kindError{ErrUnreachable, fmt.Errorf("no fleet is up on this machine (nothing in %s): "+
			"start one with dyno fleet up, or name another's bus with --nats", folder)}
	}
	if err != nil {
		return c, kindError{ErrFile, fmt.Errorf("how to run this machine's fleet: %w", err)}
	}
	return c, nil
}

// Connect connects to the hub as the controller.
func (c Controller) Connect() (*Link, error) {
	l, err := c.Access.Connect("this machine's controller file", Settings{Name: ControllerName})
	if errors.Is(err, ErrUnreachable) {
		err = fmt.Errorf("%w; if dyno fleet up is not running, start it", err)
	}
	return l, err
}

// A PlanKey signs the plans and instructions of a controller. An agent obeys one such key and no
// other, so the owner of the bus does not control its agents.
type PlanKey struct {
	Public string
	seed   []byte
}

// OpenPlanKey reads the plan key of a fleet's folder, or makes one there.
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
		if err := replaceFile(path, append(seed, '\n')); err != nil {
			return PlanKey{}, kindError{ErrFile, fmt.Errorf("keeping the plan key: %w", err)}
		}
	} else if err != nil {
		return PlanKey{}, kindError{ErrFile, fmt.Errorf("reading the plan key: %w", err)}
	}
	seed = []byte(strings.TrimSpace(string(seed)))
	key, err := nkeys.FromSeed(seed)
	if err != nil {
		return PlanKey{}, kindError{ErrFile, fmt.Errorf("%s is no key: %w", path, err)}
	}
	public, err := key.PublicKey()
	return PlanKey{public, seed}, err
}

// SignPlan signs a plan or an instruction.
func (k PlanKey) SignPlan(plan []byte) ([]byte, error) {
	key, err := nkeys.FromSeed(k.seed)
	if err != nil {
		return nil, err
	}
	defer key.Wipe()
	return key.Sign(plan)
}

// CheckPlanKey fails unless public is the public half of a plan key.
func CheckPlanKey(public string) error {
	if !nkeys.IsValidPublicUserKey(public) {
		return fmt.Errorf("%q is not a plan key: dyno fleet key prints it, where the fleet is run",
			public)
	}
	return nil
}

// VerifyPlan fails unless signature is of plan by the plan key with that public half.
func VerifyPlan(public string, plan, signature []byte) error {
	key, err := nkeys.FromPublicKey(public)
	if err == nil {
		err = key.Verify(plan, signature)
	}
	if err != nil {
		return fmt.Errorf("it is not signed by %s, whose plans this agent obeys: %w", public, err)
	}
	return nil
}

// An Identity makes a machine an agent of a fleet. It is kept in a file, so that the agent can be
// started again without another token.
type Identity struct {
	Access
	Name    string `json:"name"`
	PlanKey string `json:"plan_key"` // public key of the plans that it obeys
	Token   string `json:"token"`    // ID of the token by which it joined
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

// renewalTime returns when half of a JWT's life is over, in Unix seconds.
func renewalTime(c *jwt.UserClaims) int64 { return c.IssuedAt + (c.Expires-c.IssuedAt)/2 }
