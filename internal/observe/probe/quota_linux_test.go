package probe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dyno/internal/cgroup"
)

// A cgroup's quota, and that it was used up, are in what the machine did.
func TestQuotaUsedUp(t *testing.T) {
	if os.Getenv("DYNO_TEST_QUOTA") != "" {
		useUpQuota(t)
		return
	}
	own := cgroup.Own()
	dir, file, quota := filepath.Join(own.CPU, "dyno-test-quota"), "cpu.cfs_quota_us", "5000"
	if own.CPU == "" {
		dir, file, quota = filepath.Join(own.Unified, "dyno-test-quota"), "cpu.max", "5000 100000"
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
		t.Skipf("no cgroup can be made: %v", err)
	}
	defer os.Remove(dir)
	if err := os.WriteFile(filepath.Join(dir, file), []byte(quota), 0o644); err != nil {
		t.Skipf("no quota can be given: %v", err)
	}
	const script = `echo $$ > "$0/cgroup.procs" && exec "$@"`
	c := exec.Command("sh", "-c", script, dir, os.Args[0], "-test.run=^TestQuotaUsedUp$", "-test.v")
	c.Env = append(os.Environ(), "DYNO_TEST_QUOTA=1")
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "0.05 CPUs") {
		t.Errorf("%v: %s", err, out)
	}
}

// useUpQuota computes until the quota of its cgroup has stopped it. A busy machine may give it less
// than that for a while.
func useUpQuota(t *testing.T) {
	var use HostUse
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until) && !(use.Throttlings >= 1); {
		s, err := Start(Config{})
		if err != nil {
			t.Fatal(err)
		}
		for from := selfCPU(); selfCPU() < from+25e6; { // five times what a period has
		}
		rec := s.Stop()
		use = rec.Host(rec.Started, time.Now())
		t.Logf("%v CPUs, %v times, %v ns", use.Quota, use.Throttlings, use.Throttled)
	}
	if use.Quota != 0.05 || !(use.Throttlings >= 1) || !(use.Throttled > 0) {
		t.Errorf("%+v", use)
	}
}
