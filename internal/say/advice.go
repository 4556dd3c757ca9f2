package say

import (
	"strings"

	"dyno/internal/fact"
)

// A Voice says what to do with a setting, in the words of whoever described the load: "raise -c".
// The setting has its name of facts, and the value is fact.Higher, fact.Lower, or what to give. It
// is "" if the voice has no word for the setting. Package setting has the voices.
type Voice func(setting, value string) string

// Advice says what can be done: "give --drain 5s, or lower -R". It is "" if a voice has none of the
// settings.
func Advice(all []fact.Remedy, v Voice) string {
	var parts []string
	for _, r := range all {
		if part := v(r.Setting, r.Value); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", or ")
}
