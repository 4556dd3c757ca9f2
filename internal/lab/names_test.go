package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// legal are the characters of names in an experiment's file; the first is one of the first 62.
const legal = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-"

// No two lists of names have the same file, and all names of a file's length can be written.
func TestFileNames(t *testing.T) {
	coin := rand.New(rand.NewPCG(1, 2))
	name := func(alphabet string, long int) string {
		b := []byte{"ab1"[coin.IntN(3)]}
		for range coin.IntN(long) {
			b = append(b, alphabet[coin.IntN(len(alphabet))])
		}
		return string(b)
	}
	seen := map[string][]string{}
	for i := range 200_000 {
		alphabet, long := "a-1.", 5 // short ones of few letters, which are often alike
		if i%4 == 0 {
			alphabet, long = legal+" =/(,\"ä", 64
		}
		parts := []string{fmt.Sprintf("r%03d", 1+coin.IntN(3))}
		for range 2 + coin.IntN(2) {
			parts = append(parts, name(alphabet, long))
		}
		file := FileName(parts[0], parts[1:]...)
		if had, is := seen[file]; is && !slices.Equal(had, parts) {
			t.Fatalf("%q and %q are both %s", had, parts, file)
		}
		seen[file] = parts
	}
	most := strings.Repeat("_", 64)
	slot := Slot{Round: ConfirmingRound + 999, Arm: "a " + most + "=" + most + ControlMark, Level: most}
	if file := slot.FileID(2) + PartMark + ShortName(SafeName(most)) + ".log"; len(file) > 255 {
		t.Errorf("%d bytes: %s", len(file), file)
	}
}

// FuzzFileNames looks for two lists of names that have one file.
func FuzzFileNames(f *testing.F) {
	f.Add("go", "tls-c16", "go-tls", "c16")
	f.Add("go@a", "b", "go", "a@b")
	f.Add("a", "b@again2", "a@b", "again2")
	f.Add(strings.Repeat("a", 100), "", strings.Repeat("a", 100)+"b", "~")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		one, other := FileName("r001", a, b), FileName("r001", c, d)
		if (one == other) != (a == c && b == d) {
			t.Errorf("%q, %q: %s; %q, %q: %s", a, b, one, c, d, other)
		}
		if s := one + other; strings.ContainsAny(s, "/\\ \x00") {
			t.Errorf("%q is no file's name", s)
		}
	})
}
