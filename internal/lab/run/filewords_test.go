package run

import (
	"strings"
	"syscall"
	"testing"

	"dyno/internal/engine/failure"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/server"
)

// A trial that measured nothing, and a session that fails, name no flags of dyno's. What a server says of itself stays as it
// is.
func TestFailuresAreInFileWords(t *testing.T) {
	const want = "too many open files; raise the limit of open files (ulimit -n), or lower the level's connections"
	r := new(result.Result)
	r.Errors = []result.Error{{Phase: "connect", Kind: "no-file", Count: 1, Detail: "too many open files",
		Remedies: failure.Remedies(syscall.EMFILE)}}
	var failed lab.Trial
	if setFailure(&failed, "measure", nothingCompleted(r)); !strings.HasSuffix(failed.Failure.Reason, want) {
		t.Errorf("%q", failed.Failure.Reason)
	}
	if got := (&sessionError{SessionFailed: failuresOf(r)}).Error(); !strings.HasSuffix(got, want) {
		t.Errorf("%q", got)
	}
	own := &server.Failure{Process: "app", Reason: "unknown option or lower --connections"}
	if setFailure(&failed, "start", own); failed.Failure.Reason != own.Reason {
		t.Errorf("%q", failed.Failure.Reason)
	}
}
