package bus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"
)

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
