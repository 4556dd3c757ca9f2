package profile

import (
	"fmt"
	"strings"
	"time"

	"dyno/internal/lazyregexp"
)

// hertz is how often perf looks at each running thread: 99, not 100, so as not to beat
// with work that a server does at every tick of a clock.
const hertz = 99

// What perf may produce, and how long its second half may take.
const (
	maxRecord     = 10 * time.Minute
	maxPerfData   = "256M"
	maxScript     = 256 << 20
	scriptTimeout = 2 * time.Minute
)

// scriptFields are the columns that parseScript reads.
const scriptFields = "comm,pid,tid,period,event,ip,sym,dso"

// denied is what perf and the kernel say when sampling is not permitted, or not there.
var denied = lazyregexp.New(`(?i)perf_event_paranoid|limited|not permitted|` +
	`permission denied|not supported|not implemented|not found for kernel`)

// perfFailed says why perf did not record. said is what it wrote to its standard error,
// paranoid the value of kernel.perf_event_paranoid, "" when there is none.
func perfFailed(said, paranoid string, err error) error {
	if !denied().MatchString(said) {
		return fmt.Errorf("perf record: %w: %s", err, firstLine(said))
	}
	switch {
	case strings.Contains(said, "not found for kernel"):
		return fmt.Errorf("%w: the perf program is a stub: %s; install linux-tools-$(uname -r)",
			ErrUnavailable, firstLine(said))
	case paranoid == "":
		return fmt.Errorf("%w: this kernel has no perf events: %s", ErrUnavailable,
			firstLine(said))
	}
	return fmt.Errorf("%w: perf may not look at these processes (perf_event_paranoid=%s): %s; "+
		"run as root or as the processes' own user, give perf CAP_PERFMON and CAP_SYS_PTRACE, "+
		"or lower it with sysctl kernel.perf_event_paranoid=1; in a container, its seccomp "+
		"profile has to permit perf_event_open", ErrUnavailable, paranoid, firstLine(said))
}

// firstLine is the beginning of what a program said: perf goes on with a lecture.
func firstLine(said string) string {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line != "" && line != "Error:" && !strings.HasPrefix(line, "[ perf record:") {
			return line
		}
	}
	return "it gave no reason"
}
