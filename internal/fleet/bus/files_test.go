package bus

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// What has secrets in it is for its owner alone, and is whole or not there.
func TestFilesAreSecret(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "fleet")
	c := Controller{Access: sample(t, time.Now().Add(time.Hour)), PID: 17}
	if _, err := ReadController(folder); !errors.Is(err, ErrUnreachable) ||
		!strings.Contains(err.Error(), "dyno fleet up") {
		t.Errorf("with no fleet up: %v", err)
	}
	for range 2 { // the second replaces the first
		if err := WriteController(folder, c); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadController(folder)
	if err != nil || got.EncodeToken() != c.EncodeToken() || got.PID != c.PID {
		t.Errorf("%+v, %v", got, err)
	}
	i := Identity{Access: c.Access, Name: "web1", PlanKey: "U", Token: "abcd1234"}
	home := t.TempDir()
	if err := i.Save(home); err != nil {
		t.Fatal(err)
	}
	all, err := Identities(home)
	if err != nil || len(all) != 1 || all[0].Name != "web1" || all[0].Token != i.Token {
		t.Errorf("%+v, %v", all, err)
	}
	damaged := t.TempDir()
	for _, content := range []string{"", "{", "[]", "{}", `{"name":"web1","plan_key":"U","token":"a"}`} {
		file := filepath.Join(identityFolder(damaged), "web1.json")
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Identities(damaged); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), file) {
			t.Errorf("of %q: %v", content, err)
		}
	}
	if _, err := OpenPlanKey(folder); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, dir := range []string{folder, identityFolder(home)} {
		err = errors.Join(err, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			names = append(names, d.Name())
			return err
		}))
	}
	if want := []string{"controller.json", "plan.nk", "web1.json"}; err != nil ||
		!slices.Equal(names, want) {
		t.Errorf("there are %v, want %v; %v", names, want, err)
	}
	if err := RemoveController(folder); err != nil {
		t.Error(err)
	}
}

// A server has its nonce signed, and never what an agent says of itself.
func TestNoncesAreSigned(t *testing.T) {
	i := Identity{Access: sample(t, time.Now().Add(time.Hour))}
	c, err := i.parseClaims()
	if err != nil {
		t.Fatal(err)
	}
	said, err := i.SignText([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := VerifyAgentText(c.Subject, []byte("x"), said); err != nil {
		t.Error(err)
	}
	answer := nonceSigner(i.Seed)
	if _, err := answer([]byte("A-nonce_of15chr")); err != nil {
		t.Error(err)
	}
	if signature, err := answer([]byte(agentTextPrefix + "x")); err == nil {
		t.Errorf("a server gets %x", signature)
	}
}

// A plan is obeyed if it is as it was signed, and by the key that was told.
func TestPlanKey(t *testing.T) {
	folder := t.TempDir()
	key, err := OpenPlanKey(folder)
	if err != nil {
		t.Fatal(err)
	}
	same, err := OpenPlanKey(folder)
	if err != nil || same.Public != key.Public {
		t.Fatalf("opened again it is another: %v", err)
	}
	other, err := OpenPlanKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plan := []byte(`{"rate": 100}`)
	signature, err := same.SignPlan(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckPlanKey(key.Public); err != nil {
		t.Error(err)
	}
	if err := VerifyPlan(key.Public, plan, signature); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"a plan that was changed": VerifyPlan(key.Public, []byte(`{"rate": 1000}`), signature),
		"another's key":           VerifyPlan(other.Public, plan, signature),
		"no signature":            VerifyPlan(key.Public, plan, nil),
		"no key":                  VerifyPlan("", plan, signature),
	} {
		if err == nil {
			t.Errorf("%s passes", what)
		}
	}
	if CheckPlanKey("SUAB") == nil || CheckPlanKey("") == nil {
		t.Error("what is no plan key passes for one")
	}
	if err := os.WriteFile(filepath.Join(folder, "plan.nk"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPlanKey(folder); err == nil {
		t.Error("a damaged plan key is opened")
	}
}
