//go:build unix && !linux

package framework_test

const zombiesShow = false
