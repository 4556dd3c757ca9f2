// Package net holds what reports say while the code below them changes: results, searches and
// experiments that an earlier dyno stored, and how each was shown then in every format. It has
// tests only. They call dyno as a user does (cli.Main), but for the page's data and charts.
//
// A difference in a golden needs its reason in the message of the commit that makes it. Goldens
// are written by make goldens, or go test ./internal/cli/net -update.
//
//	testdata/stored          inputs, as main stored them at 4c96bdb0; experiments are archives
//	                         (facts-*: some of these, of which a later dyno found facts)
//	testdata/stored/e0a4a60  inputs of an earlier dyno
//	testdata/golden          an input's or a comparison's formats, one below the other
//	make                     made the inputs: its comment says how, and what was replaced in them
//
// The page's data and JSON are lines of a path and a value (abridged_test.go). Of long lists of
// numbers and of histograms there are the length, the first and last, and a digest; long texts
// stand in golden/texts.golden, each once. Of a chart there is each text in it, and a digest of the
// SVG.
package net
