package fact

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// Args are the arguments of one kind of fact: a struct whose JSON keys have units in their names.
type Args interface{ Kind() Kind }

// kinds are all kinds of facts, by the type of their arguments. Add a kind here, and its sentence
// in package say.
var kinds = byKind(
	Steal{}, ApplicationStderr{}, StoodStill{},
)

// Steal says that the hypervisor gave CPU time to other virtual machines.
type Steal struct {
	Percent float64 `json:"percent"` // of the time of all CPUs, in the window
}

// Kind is the kind's name.
func (Steal) Kind() Kind { return "steal" }

// StoodStill says that the generator itself was stopped, or had no CPU for long.
type StoodStill struct {
	LongestUS float64 `json:"longest_us"`
	SinceS    float64 `json:"since_s"` // when the longest began, after the window's start
	TotalUS   float64 `json:"total_us"`
	Delayed   float64 `json:"delayed_percent"` // of the requests: those in flight or due meanwhile
}

// Kind is the kind's name.
func (StoodStill) Kind() Kind { return "stood-still" }

// ApplicationStderr says that a FastCGI application wrote to stderr.
type ApplicationStderr struct {
	Bytes int64  `json:"bytes"`
	First string `json:"first"` // line that says something, or its beginning
}

// Kind is the kind's name.
func (ApplicationStderr) Kind() Kind { return "application-stderr" }

// Unknown are the arguments of a kind that this dyno does not know: a newer one wrote them.
type Unknown struct {
	Of  Kind
	Raw json.RawMessage
}

// Kind is the name that was read.
func (u Unknown) Kind() Kind { return u.Of }

// MarshalJSON writes the arguments as they were read.
func (u Unknown) MarshalJSON() ([]byte, error) { return u.Raw, nil }

// Kinds are the names of all kinds, in order.
func Kinds() []Kind { return slices.Sorted(maps.Keys(kinds)) }

func byKind(all ...Args) map[Kind]reflect.Type {
	table := make(map[Kind]reflect.Type, len(all))
	for _, args := range all {
		table[args.Kind()] = reflect.TypeOf(args)
	}
	return table
}

// decodeArgs reads the arguments of a kind.
func decodeArgs(k Kind, raw json.RawMessage) (Args, error) {
	of, known := kinds[k]
	if !known {
		return Unknown{k, slices.Clone(raw)}, nil
	}
	args := reflect.New(of)
	if err := json.Unmarshal(raw, args.Interface()); err != nil {
		return nil, err
	}
	return args.Elem().Interface().(Args), nil
}
