package framework_test

const zombiesShow = true
