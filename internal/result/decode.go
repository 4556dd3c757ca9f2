package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
)

// blanks are those of JSON.
const blanks = " \t\r\n"

// longest is more than a result has, in bytes: one of a month has a second in 250.
const longest = 1 << 30

// longestBlank is more than a result has before its first character, in bytes.
const longestBlank = 4 << 10

// ReadFile reads a file that is to be a result, of at most 1 GiB. It may be any: of one that does
// not begin as a JSON object, as a device that never ends, only the beginning is read.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, longestBlank))
	if err != nil || !bytes.HasPrefix(bytes.TrimLeft(b, blanks), []byte("{")) {
		return b, err
	}
	size := info.Size() // 0 of what is no file
	if size <= longest {
		begin := io.MultiReader(bytes.NewReader(b), f)
		b, err = io.ReadAll(io.LimitReader(begin, longest+1))
		size = int64(len(b))
	}
	if size > longest {
		return nil, fmt.Errorf("%s has more than %d bytes, and no result has", path, longest)
	}
	return b, err
}

// plainTypeError is err, without types of Go if it is about a type.
func plainTypeError(err error) error {
	t, is := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !is:
		return err
	case t.Field == "":
		return fmt.Errorf("it is JSON, but no object: %s", t.Value)
	}
	return fmt.Errorf("its %s is of another type: %s", t.Field, t.Value)
}

// Decode reads a result of this format only. A result of an older or newer dyno is an error,
// instead of being read incompletely.
func Decode(b []byte) (*Result, error) {
	var head struct {
		Format string `json:"format"`
	}
	switch {
	case len(b) == 0:
		return nil, errors.New("not a result of dyno: it is empty")
	case len(bytes.TrimLeft(b, blanks)) == 0:
		return nil, errors.New("not a result of dyno: it begins with blanks only")
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("not a result of dyno: %w", plainTypeError(err))
	}
	if head.Format != Format {
		return nil, otherFormat(head.Format)
	}
	r := new(Result)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("a damaged result: %w", plainTypeError(err))
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(b, &keys); err != nil {
		return nil, fmt.Errorf("a damaged result: %w", err)
	}
	r.missing = missingKeys(keys, "", reflect.TypeFor[Result]())
	return r, nil
}

func otherFormat(format string) error {
	name, ours, _ := strings.Cut(Format, "/")
	version, is := strings.CutPrefix(format, name+"/")
	have, err := strconv.Atoi(version)
	read, _ := strconv.Atoi(ours)
	if is && err == nil && have > read {
		return fmt.Errorf("written by a newer dyno: its format is %s and this one reads %s; "+
			"update dyno", format, Format)
	}
	return fmt.Errorf("not a result of dyno: its format is %q, not %q", format, Format)
}
