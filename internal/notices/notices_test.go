package notices

import (
	"os"
	"strings"
	"testing"
)

// The notices are those that were collected, or it is said how to.
func TestText(t *testing.T) {
	text, err := NoticesText()
	if _, missing := os.Stat("dist/notices.txt"); missing != nil {
		if err == nil || !strings.Contains(err.Error(), "make notices") {
			t.Errorf("%v", err)
		}
		return
	}
	if err != nil || !strings.Contains(text, "The Go Authors") {
		t.Errorf("%v, %d characters", err, len(text))
	}
}
