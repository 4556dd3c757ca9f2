package profile

import (
	"errors"
	"strings"
	"testing"
)

// What perf said, here and as its sources have it, and what becomes of it.
func TestPerfFailed(t *testing.T) {
	for _, c := range []struct {
		name, said, paranoid string
		unavailable          bool
		says                 string
	}{
		{"denied", "Error:\nAccess to performance monitoring and observability operations is " +
			"limited.\nConsider adjusting /proc/sys/kernel/perf_event_paranoid setting to open\n",
			"2", true, "perf_event_paranoid=2"},
		{"container", "Error:\nThe sys_perf_event_open() syscall returned with 1 (Operation not " +
			"permitted) for event (cpu-clock).\n", "4", true, "seccomp"},
		{"no such syscall", "Error:\nThe sys_perf_event_open() syscall returned with 38 " +
			"(Function not implemented) for event (cpu-clock).\n", "", true, "no perf events"},
		{"stub", "WARNING: perf not found for kernel 6.8.0-45\n", "4", true, "linux-tools-"},
		{"option", "  Error: unknown option `max-size'\n\n Usage: perf record [<options>]\n",
			"1", false, "unknown option `max-size'"},
		{"silence", "", "1", false, "it gave no reason"},
	} {
		err := perfFailed(c.said, c.paranoid, errors.New("exit status 255"))
		if errors.Is(err, ErrUnavailable) != c.unavailable ||
			!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
