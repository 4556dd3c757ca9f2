// Command image writes dyno's image for containers as an OCI layout, without a daemon and without a
// registry. The image is from scratch: it has the binary, and nothing else.
//
//	go run ./release/image -o dist/image -time 1700000000 amd64=dyno-amd64 arm64=dyno-arm64
//
// Two images of the same binaries and the same time are equal. `skopeo copy oci:dist/image …` or
// `podman load` take it from there.
package main

import (
	"archive/tar"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	folder := flag.String("o", "", "folder of the layout, which must not exist")
	seconds := flag.Int64("time", 0, "time of everything in it, in seconds since 1970")
	version := flag.String("version", "", "version for the label")
	flag.Parse()
	if err := writeImage(*folder, *version, time.Unix(*seconds, 0).UTC(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(2)
	}
}

// writeImage writes an index with an image for each ARCH=BINARY.
func writeImage(folder, version string, at time.Time, binaries []string) error {
	if folder == "" || len(binaries) == 0 {
		return fmt.Errorf("usage: image -o DIR -time SECONDS ARCH=BINARY, one or more")
	}
	if _, err := os.Stat(folder); err == nil {
		return fmt.Errorf("%s exists; remove it first", folder)
	}
	index := v1.ImageIndex(empty.Index)
	for _, word := range binaries {
		arch, binary, found := strings.Cut(word, "=")
		if !found {
			return fmt.Errorf("%q is not ARCH=BINARY", word)
		}
		image, err := imageOf(binary, arch, version, at)
		if err != nil {
			return fmt.Errorf("the image of %s: %w", arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	_, err := layout.Write(folder, index)
	return err
}

// imageOf is the image of one architecture: one layer with one file, /dyno, and an empty /tmp.
func imageOf(binary, arch, version string, at time.Time) (v1.Image, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	for _, h := range []tar.Header{{Name: "dyno", Mode: 0o755, Size: int64(len(program)),
		Typeflag: tar.TypeReg},
		{Name: "tmp/", Mode: 0o1777, Typeflag: tar.TypeDir}} {
		h.ModTime = at
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if h.Size > 0 {
			if _, err := w.Write(program); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	})
	if err != nil {
		return nil, err
	}
	image, err := mutate.Append(empty.Image, mutate.Addendum{Layer: layer,
		History: v1.History{Created: v1.Time{Time: at}, CreatedBy: "dyno release/image"}})
	if err != nil {
		return nil, err
	}
	c, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	c = c.DeepCopy()
	describe(c, arch, version, at)
	return mutate.ConfigFile(image, c)
}

// describe says what the image is, and what it runs.
func describe(c *v1.ConfigFile, arch, version string, at time.Time) {
	c.OS, c.Architecture, c.Created = "linux", arch, v1.Time{Time: at}
	c.Config = v1.Config{Entrypoint: []string{"/dyno"}, Env: []string{"PATH=/", "DYNO_HOME=/tmp/dyno"},
		User: "65532:65532", WorkingDir: "/", Labels: map[string]string{
			"org.opencontainers.image.title":    "dyno",
			"org.opencontainers.image.version":  version,
			"org.opencontainers.image.licenses": "Apache-2.0"}}
}
