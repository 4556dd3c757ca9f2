package setting

import "testing"

// A remedy may come from an agent, or from a file that somebody sent: whatever it has is a text.
func TestForeignRemedies(t *testing.T) {
	for _, value := range []string{"--proxy ({proxy}", "{", "{}", "{x}", "({timeout}", "} (", "--timeout ({timeout}{", ""} {
		for _, name := range []string{"timeout", "nosuch", "", "{timeout}", "}"} {
			for _, voice := range []func(name, value string) string{Flag, Key, Label, Library, Replay} {
				voice(name, value)
			}
		}
	}
}
