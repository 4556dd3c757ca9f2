package dyno_test

import (
	"net/mail"
	"os"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"

	"go.yaml.in/yaml/v3"
)

// What packages say of themselves is what dyno says: the version is loadplan.Version, and the
// maintainer is a name and an address, as Debian's policy has it (5.6.2). CONTRIBUTING says where the
// address is changed. The program in them is built as make build builds it.
func TestPackages(t *testing.T) {
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		Snapshot struct {
			Version string `yaml:"version_template"`
		}
		NFPMs  []struct{ Maintainer, License string }
		Builds []struct{ Env, Flags, LDFlags []string }
	}
	if err := yaml.Unmarshal(text, &of); err != nil {
		t.Fatal(err)
	}
	if of.Snapshot.Version != loadplan.Version {
		t.Errorf(".goreleaser.yaml builds packages of version %q; it is %q (loadplan.Version)",
			of.Snapshot.Version, loadplan.Version)
	}
	if len(of.NFPMs) != 1 {
		t.Fatalf("%d kinds of packages", len(of.NFPMs))
	}
	who, err := mail.ParseAddress(of.NFPMs[0].Maintainer)
	if err != nil || who.Name == "" {
		t.Errorf("the maintainer %q is no name with an address: %v", of.NFPMs[0].Maintainer, err)
	}
	makefile, err := os.ReadFile("Makefile")
	const build = "\nBUILD = CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w'\n"
	if err != nil || !strings.Contains(string(makefile), build) || len(of.Builds) != 1 ||
		!slices.Contains(of.Builds[0].Env, "CGO_ENABLED=0") || !slices.Contains(of.Builds[0].Flags, "-trimpath") ||
		!strings.HasPrefix(strings.Join(of.Builds[0].LDFlags, " "), "-s -w") {
		t.Errorf("what make build builds is not what packages have: %+v, %v", of.Builds, err)
	}
	guide, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil || !strings.Contains(string(guide), "`maintainer` in `.goreleaser.yaml`") {
		t.Error("CONTRIBUTING.md does not say where the maintainer is changed", err)
	}
}
