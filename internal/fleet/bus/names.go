package bus

import (
	"fmt"
	"regexp"
	"strings"

	"dyno/internal/lazyregexp"
)

// NameMax is how many characters an agent's name may have: those of a DNS label.
const NameMax = 63

var nameForm = lazyregexp.New(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// CheckAgentName fails unless name can be an agent's. Names are parts of subjects.
func CheckAgentName(name string) error {
	switch {
	case len(name) > NameMax:
		return fmt.Errorf("%q has %d characters, and a name at most %d", name, len(name), NameMax)
	case !nameForm().MatchString(name):
		return fmt.Errorf("%q is not a name: small letters, digits and dashes between them", name)
	case name == "all" || name == "hub" || name == ControllerName:
		return fmt.Errorf("%q means something else; choose another name", name)
	}
	return nil
}

// AgentNameFor returns the name of an agent on a host that asks for none.
func AgentNameFor(host string) string {
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(host, "-")
	name = strings.Trim(name[:min(len(name), NameMax)], "-")
	if CheckAgentName(name) != nil {
		return "agent"
	}
	return name
}
