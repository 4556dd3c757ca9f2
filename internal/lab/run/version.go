package run

import (
	"context"
	"dyno/internal/lab"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dyno/internal/lab/experiment"
)

// versionTime is how long a program may take to print its version.
const versionTime = 10 * time.Second

// readVersions runs the version commands of all variants. If one fails the variant still takes
// part; the record has the reason.
func (r *running) readVersions(ctx context.Context) {
	for _, a := range r.loadableArms() {
		if len(a.variant.Version) == 0 || a.Control || ctx.Err() != nil {
			continue
		}
		version, err := r.readVersion(ctx, a)
		if err != nil {
			version = "not known: " + r.reason(err)
		}
		a.Version = version
	}
	r.recordArms()
}

func (r *running) readVersion(ctx context.Context, a *arm) (string, error) {
	dir := filepath.Join(r.Dir, BuildFolder, lab.SafeName(a.Name))
	job, err := experiment.RenderVersion(a.variant, experiment.Values{Build: dir, Dyno: r.Dyno,
		CPUs: len(r.record.CPUs.Server)})
	if err != nil {
		return "", err
	}
	output := filepath.Join(r.Dir, lab.OutputFolder, lab.FileName("version", a.Name)+".log")
	step := experiment.BuildStep{Job: job, Timeout: versionTime}
	if err := r.runStep(ctx, step, output); err != nil {
		return "", err
	}
	b, err := os.ReadFile(output)
	if err != nil {
		return "", err
	}
	const enough = 64 << 10
	said := strings.ToValidUTF8(string(b[:min(len(b), enough)]), "\ufffd")
	said = r.conceal.text(said) // before it is shortened, while secrets are complete
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return strings.TrimSpace(line), nil
}
