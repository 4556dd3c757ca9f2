package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// completion is dyno completion.
func completion(s streams, args []string) int {
	var b strings.Builder
	switch strings.Join(args, " ") {
	case "bash":
		bashCompletion(&b)
	case "zsh":
		fmt.Fprintln(&b, "autoload -U +X bashcompinit && bashcompinit")
		bashCompletion(&b)
	case "fish":
		fishCompletion(&b)
	default:
		return s.refuse("completion", []error{fmt.Errorf("%q is not a shell; there are bash, zsh, fish",
			strings.Join(args, " "))})
	}
	return s.print(b.String())
}

// flagsOf are the long flags of a verb, with their dashes.
func flagsOf(v verb) (flags []string) {
	if v.groups == nil {
		return nil
	}
	for _, g := range v.groups() {
		for _, o := range g.options {
			flags = append(flags, o.flag())
		}
	}
	slices.Sort(flags)
	return flags
}

func bashCompletion(w io.Writer) {
	var names []string
	fmt.Fprint(w, "_dyno() {\n  local words=\n  case ${COMP_WORDS[1]} in\n")
	for _, v := range verbs() {
		names = append(names, v.name)
		if flags := flagsOf(v); flags != nil {
			fmt.Fprintf(w, "    %s) words='%s' ;;\n", v.name, strings.Join(flags, " "))
		}
	}
	fmt.Fprintf(w, "  esac\n  [ \"$COMP_CWORD\" -gt 1 ] || words='%s'\n", strings.Join(names, " "))
	fmt.Fprint(w, "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"+
		"complete -o default -F _dyno dyno\n")
}

func fishCompletion(w io.Writer) {
	for _, v := range verbs() {
		fmt.Fprintf(w, "complete -c dyno -n __fish_use_subcommand -a %s -d '%s'\n", v.name, v.does)
		for _, flag := range flagsOf(v) {
			fmt.Fprintf(w, "complete -c dyno -n '__fish_seen_subcommand_from %s' -l %s\n",
				v.name, strings.TrimPrefix(flag, "--"))
		}
	}
}
