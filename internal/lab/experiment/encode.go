package experiment

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"dyno/internal/lab/experiment/quantity"
)

// Default is a value as it is where the file says nothing of it.
func Default[T any]() (v T) {
	setDefaults(&v)
	return v
}

func setDefaults(v any) {
	switch v := v.(type) {
	case interface{ setDefaults() }:
		v.setDefaults()
	case interface{ SetDefaults() }:
		v.SetDefaults()
	}
}

// Marshal is the text of a file that Read reads as e. It leaves out what is so without it, but for
// what people look for in a file, such as its rounds.
func (e *Experiment) Marshal() ([]byte, error) {
	n, err := quantity.Encode(e, setDefaults)
	if err != nil {
		return nil, fmt.Errorf("writing the experiment: %w", err)
	}
	var b bytes.Buffer
	to := yaml.NewEncoder(&b)
	to.SetIndent(2)
	if err := errors.Join(to.Encode(n), to.Close()); err != nil {
		return nil, fmt.Errorf("writing the experiment: %w", err)
	}
	return b.Bytes(), nil
}
