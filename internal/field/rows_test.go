package field

// outside says of reports about software that Tandem has not why they cannot concern it. Where there is another side to them, that has a row all the same.
var outside = map[int]string{
	72:  "the fault is in a client of HTTP with SSE, and Tandem has none; its server says once where to send to",
	96:  "the fault is in a client of HTTP, and Tandem has none; its server answers a probe without a session",
	148: "the fault is in a client of HTTP, and Tandem has none; its server takes messages without Accept",
	161: "the fault is in a client of SSE, and Tandem has none; its server sends empty events only to revisions that have them",
	164: "the fault is in a client of SSE, and Tandem has none; its server writes lines that every reader can split",
}

// rows names the tests that would fail if Tandem had the fault of a report: directory, function, and a string of its file, which is the name of the case,
// or the beginning of such names if it ends with a colon.
var rows = map[int][]string{
	// framing
	1:  {"internal/field TestHeaderSpelling 1:", "jsonrpc2 TestHeader"},
	3:  {"internal/field TestHeaderSpelling 3:", "jsonrpc2 TestUTF8Charset"},
	7:  {"internal/field TestBytesNotCharacters 7:", "jsonrpc2 TestHeaderWritten"},
	9:  {"internal/field TestBytesNotCharacters 9:", "jsonrpc2 TestEveryPartition"},
	15: {"internal/field TestLineIsOneUnit 15:", "internal/field TestHTTPRefusals 15:"},
	18: {"internal/field TestBadUnits 18:", "internal/field TestBadUnitsOfProtocols 18:", "internal/field TestHTTPRefusals 18:"},
	19: {"internal/field TestOnlyLineFeedEndsALine 19:", "jsonrpc2 TestLines"},
	20: {"internal/field TestOnlyLineFeedEndsALine 20:", "jsonrpc2 TestLines"},
	27: {"internal/field TestFramingLostEndsTheProcess 27:", "internal/field TestHeadersToALineServer", "jsonrpc2 TestDetect"},
	28: {"internal/field TestLineIsOneUnit 28:", "internal/field TestFramingLost 28:"},

	// errors
	16:  {"internal/field TestBadUnits 16:", "internal/field TestBadUnitsOfProtocols 16:", "internal/field TestHTTPRefusals 16:"},
	17:  {"internal/field TestBadUnits 17:", "internal/field TestHTTPRefusals 17:"},
	34:  {"internal/field TestBadUnitsOfProtocols 34:", "internal/field TestHTTPRefusals 34:"},
	110: {"internal/field TestRawBytes 110:"},
	111: {"internal/field TestRawBytes 111:", "lsp TestLifecycleBytes"},
	112: {"internal/field TestRawBytes 112: shutdown", "lsp TestLifecycleBytes"},
	204: {"internal/field TestToolErrors", "internal/field TestHTTPRefusals 204:"},

	// ids
	33: {"internal/field TestBadUnits 33:", "internal/field TestBadUnitsOfProtocols 33:", "internal/vectors TestVectors", "internal/field TestHTTPRefusals 33:"},
	35: {"internal/field TestIDs 35:", "internal/field TestBadUnitsOfProtocols 35:", "internal/field TestHTTPRefusals 35:"},
	37: {"internal/field TestIDs 37:"},
	38: {"internal/field TestIDs 38:", "jsonrpc2 TestIDKey", "mcp/mcphttp TestAskIDs"},
	44: {"internal/field TestDuplicateIDsAreNotCrossed 44:", "mcp TestCallerIsolation", "internal/field TestHTTPSameIDs", "mcp/mcphttp TestSameIDs"},

	// batches
	49: {"internal/field TestBadUnits 49:", "internal/field TestBadUnitsOfProtocols 49:", "internal/field TestHTTPRefusals 49:"},
	50: {"internal/field TestBadUnits 50:", "internal/field TestBadUnitsOfProtocols 50:", "internal/field TestHTTPRefusals 50:"},
	52: {"internal/field TestBadUnits 52:", "jsonrpc2 TestBatches"},

	// cancellation
	36: {"internal/field TestCancelByID 36:", "mcp TestCancelIsSilent"},
	53: {"internal/field TestCancelByID 53:", "internal/field TestCancelRaces 53:", "jsonrpc2 TestInboundCancel", "mcp/mcphttp TestCancel"},
	58: {"internal/field TestCancelNothing 58:"},

	// concurrency and back-pressure
	30: {"internal/field TestCancelledCallsTearNothing", "jsonrpc2 TestWriteIsOneWrite"},
	60: {"internal/field TestCancelOvertakes 60:", "jsonrpc2 TestCancelQueued"},
	64: {"internal/field TestHandlersMayCallBack 64:", "jsonrpc2 TestModel"},
	67: {"internal/field TestSlowConsumerHurtsItselfOnly", "jsonrpc2 TestPeerDoesNotRead", "mcp/mcphttp TestSlowReader"},
	68: {"internal/field TestListChangesAreGathered", "mcp TestChanged", "internal/field TestSecretsStayOut 141:"},
	70: {"internal/field TestCloseRacesWithResponses 70:"},
	78: {"internal/field TestHandlersMayCallBack 78:", "jsonrpc2 TestCallGivesItsSlotBack"},

	// shutdown
	74:  {"internal/field TestCloseIsIdempotent", "framework TestShutdownRacesWithConnections", "internal/field TestHTTPShutdownRaces", "mcp/mcphttp TestShutdownByMany"},
	97:  {"internal/field TestEndsOfProcesses 97:", "internal/field TestLSPLifecycle 97:", "framework TestStdioOneShot"},
	101: {"internal/field TestEndsOfProcesses 101:", "framework TestStdioNobodyReadsOutput", "framework TestStdioNobodyReadsErrors"},

	// logging
	69:  {"internal/field TestLogOverTheSameConnection", "logging TestFailingSinkDoesNotHurt"},
	137: {"internal/field TestSecretsStayOut 137:", "internal/field TestSecretsInText", "logging TestRedactUserInfo"},
	138: {"internal/field TestSecretsStayOut 138:", "logging TestRedactEscapedStrings"},
	141: {"internal/field TestSecretsStayOut 141:", "framework TestCanary", "internal/field TestHTTPSecretsStayOut 141:"},
	203: {"internal/field TestSecretsStayOut 203:", "framework TestCanary", "internal/field TestHTTPSecretsStayOut 203:"},

	// JSON
	121: {"internal/field TestBadUnits 121:", "jsonrpc2 TestScanMessage"},
	125: {"internal/field TestRawBytes 125:"},
	199: {"internal/field TestBracketsDoNotKill 199:", "internal/field TestBadUnits 199:", "internal/field TestBadUnitsOfProtocols 199:", "jsonrpc2 TestHostileNesting", "internal/field TestHTTPRefusals 199:"},
	200: {"internal/field TestBadUnits 200:", "internal/field TestBadUnitsOfProtocols 200:", "jsonrpc2 TestNameIs", "internal/field TestHTTPRefusals 200:"},

	// memory
	24:  {"internal/field TestFramingLost 24:", "internal/field TestHugeAnnouncementCostsNothing 24:", "jsonrpc2 TestAnnouncedLengthIsNotAllocated", "internal/field TestHTTPRefusals 24:"},
	25:  {"internal/field TestFramingLost 25:", "internal/field TestHugeAnnouncementCostsNothing 25:", "internal/field TestHTTPRefusals 25:"},
	95:  {"internal/field TestNothingIsLeftBehind 95:", "internal/field TestMCPBeforeInitialize", "internal/field TestHTTPRefusals 95:", "internal/field TestHTTPNothingIsLeft"},
	124: {"internal/field TestParamsAreOwned", "jsonrpc2 TestKept"},
	167: {"internal/field TestNothingIsLeftBehind 167:", "jsonrpc2 TestServeContext", "internal/field TestHTTPNothingIsLeft"},
	168: {"internal/field TestNothingIsLeftBehind 168:", "internal/field TestHTTPNothingIsLeft", "internal/field TestHTTPClientsLeave", "mcp/mcphttp TestSessionCaps", "mcp/mcphttp TestIdleWithStream"},

	// lifecycle
	83:  {"internal/field TestMCPBeforeInitialize", "mcp TestBeforeInitialize", "internal/field TestHTTPRefusals 83:"},
	84:  {"internal/field TestMCPBeforeInitialize", "mcp TestBeforeInitialize"},
	87:  {"internal/field TestMCPInitialize", "mcp TestSessionTerms", "internal/field TestLSPInitialize 87:", "lsp TestLenient"},
	89:  {"internal/field TestLSPLifecycle 89:", "lsp TestLifecycleOfEveryMethod"},
	90:  {"internal/field TestLSPLifecycle 90:", "internal/field TestEndsOfProcesses 90:"},
	91:  {"internal/field TestMCPInitialize 91:", "internal/field TestHTTPRefusals 91:"},
	92:  {"internal/field TestMCPInitialize 92:", "mcp/mcphttp TestOddVersion"},
	108: {"internal/field TestLSPLifecycle 108:"},

	// documents
	80:  {"internal/field TestChangesInOrder", "lsp TestOrder"},
	81:  {"internal/field TestChangesThatCannotBe 81:", "lsp TestOutOfSync"},
	189: {"internal/field TestPositions 189:", "internal/field TestChangesThatCannotBe 189:", "lsp TestColumns"},
	190: {"internal/field TestPositions 190:", "internal/field TestChangesThatCannotBe 190:", "lsp FuzzPosition"},
	191: {"internal/field TestPositions 191:", "internal/field TestChangesThatCannotBe 191:", "lsp TestEndOfText"},
	192: {"internal/field TestPositions 192:"},
	193: {"internal/field TestChangesThatCannotBe 193:", "lsp TestOutOfSync"},
	194: {"internal/field TestPositions 194:", "lsp TestChanges"},
	196: {"internal/field TestURISpellings 196:", "lsp TestKeyOf"},
	198: {"internal/field TestURISpellings 198:", "lsp TestKeyOf"},

	// progress
	186: {"internal/field TestProgressTokens 186:", "mcp TestProgress"},
	188: {"internal/field TestProgressIsDisarmed", "mcp TestProgressDisarmed"},

	// tools and their schemas
	171: {"internal/field TestToolLists", "mcp TestSchemasShown"},
	172: {"internal/field TestToolLists", "mcp TestSchemasShown"},
	173: {"internal/field TestToolLists"},
	175: {"internal/field TestToolLists"},
	178: {"internal/field TestStructuredContent", "mcp TestAddToolOutput"},
	179: {"internal/field TestArguments"},
	205: {"internal/field TestToolLists", "mcp TestToolNames"},

	// HTTP
	145: {"internal/field TestHTTPRefusals 145:", "mcp/mcphttp TestLegacyStatuses unknown id", "mcp/mcphttp TestWithAuth"},
	146: {"internal/field TestHTTPRefusals 146:", "mcp/mcphttp TestLegacyStatuses unknown id"},
	148: {"internal/field TestHTTPRefusals 148:", "mcp/mcphttp TestPostStatuses no Accept"},
	152: {"internal/field TestHTTPRefusals 152:", "mcp/mcphttp TestPostStatuses notification, whatever Accept"},
	96:  {"internal/field TestHTTPRefusals 95: discover", "internal/field TestHTTPNothingIsLeft"},

	// who may call
	155: {"internal/field TestHTTPRefusals 155:", "mcp/mcphttp TestHostAndOrigin rebound name", "mcp/mcphttp TestOldSSERefusals"},
	156: {"internal/field TestHTTPSessionsHaveOwners", "mcp/mcphttp TestSessionOfAnother", "mcp/mcphttp TestWithAuth"},
	202: {"internal/field TestHTTPRefusals 202:", "mcp/mcphttp TestHostAndOrigin rebound name", "cmd/demo-mcp TestHTTP"},

	// streams
	72:  {"internal/field TestHTTPStreams 72: the endpoint of the old transport", "mcp/mcphttp TestOldSSE"},
	159: {"internal/field TestHTTPStreams 159: a second GET", "mcp/mcphttp TestHeartbeat", "mcp/mcphttp TestGet"},
	161: {"internal/field TestHTTPStreams 161:", "mcp/mcphttp TestResume", "mcp/mcphttp TestEventText"},
	164: {"internal/field TestHTTPStreams 161:", "mcp/mcphttp TestEventText"},
	206: {"internal/field TestHTTPEventsAreNotHeldBack", "mcp/mcphttp TestWrappedWriter", "mcp/mcpauth TestAnswerPassesThrough"},

	// clients, in what they have in common with every peer
	39:  {"internal/field TestStrayResponses 39:", "internal/field TestUnansweredCalls"},
	42:  {"internal/field TestStrayResponses 42:", "internal/field TestBadUnits 42:", "internal/field TestHTTPRefusals 42:"},
	47:  {"internal/field TestStrayResponses 47:", "internal/field TestBadUnits 47:", "internal/field TestHTTPRefusals 47:"},
	117: {"internal/field TestClientsAnswer"},
	118: {"internal/field TestBadUnits 118:", "internal/field TestStrayResponses 118:"},
	153: {"internal/field TestStrayResponses 153: result without id", "internal/field TestHTTPRefusals 153:"},
	163: {"internal/field TestUnansweredCalls"},
	182: {"internal/field TestArguments"},
}

// inputs names the tests of what a peer may send, do or suffer, beside the reports: the process never crashes, and is never silent.
var inputs = map[string][]string{
	"invalid JSON":                            {"internal/field TestBadUnits 118:"},
	"scalars":                                 {"internal/field TestBadUnits 17: scalar"},
	"empty batch":                             {"internal/field TestBadUnits 49: empty batch"},
	"batches":                                 {"internal/field TestBadUnits 52:", "jsonrpc2 TestBatches"},
	"missing or wrong version":                {"internal/field TestBadUnits 16:"},
	"object ids":                              {"internal/field TestBadUnits 33: id is an object"},
	"megabytes of brackets":                   {"internal/field TestBracketsDoNotKill 199: brackets alone"},
	"invalid UTF-8":                           {"internal/field TestBadUnits 18:"},
	"trailing comma":                          {"internal/field TestBadUnits 118: trailing comma", "internal/field TestLineIsOneUnit 15: comma behind"},
	"negative length":                         {"internal/field TestFramingLost 24: negative"},
	"huge length":                             {"internal/field TestFramingLost 24: more than any number"},
	"short length":                            {"internal/field TestFramingLost 24: too short a length"},
	"header after header":                     {"internal/field TestFramingLost 24: header after header"},
	"message over the limit":                  {"internal/field TestMessagesOverTheLimit"},
	"end in a header":                         {"internal/field TestFramingLost 28: end in a header"},
	"end in a body":                           {"internal/field TestFramingLost 28: end in a body"},
	"end in a line":                           {"internal/field TestLineIsOneUnit 28: half an object"},
	"Method beside method":                    {"internal/field TestBadUnits 119: Method beside method"},
	"members twice":                           {"internal/field TestBadUnits 200: the same name escaped"},
	"handler that panics":                     {"internal/field TestBadUnits 76: handler panics"},
	"peer that stops reading":                 {"internal/field TestSlowConsumerHurtsItselfOnly", "jsonrpc2 TestPeerDoesNotRead", "framework TestStdioOutputNotRead"},
	"parent that dies":                        {"framework TestParentByFlag", "framework TestParentIsZombie", "lsp TestParent"},
	"broken pipe of standard output":          {"internal/field TestEndsOfProcesses 101:", "framework TestStdioNobodyReadsOutput"},
	"broken pipe of standard error":           {"framework TestStdioNobodyReadsErrors"},
	"byte order mark":                         {"internal/field TestOddButLegal byte order mark"},
	"CRLF":                                    {"internal/field TestOddButLegal CRLF"},
	"lower-case headers":                      {"internal/field TestHeaderSpelling 1: lower case"},
	"lone surrogates":                         {"internal/field TestOddButLegal lone surrogate", "internal/field TestIDs 38: lone surrogate"},
	"ids of every kind":                       {"internal/field TestIDs 37: zero", "internal/field TestIDs 38: empty string", "internal/field TestIDs 38: float", "internal/field TestIDs 38: exponent", "internal/field TestIDs 38: beyond a double"},
	"ids that are used twice at a time":       {"internal/field TestDuplicateIDsAreNotCrossed", "internal/field TestHTTPSameIDs"},
	"a client that leaves at each stage":      {"internal/field TestHTTPClientsLeave", "mcp/mcphttp TestDisconnect"},
	"a client that is refused while it sends": {"mcp/mcphttp TestRefusedWhileSending"},
	"a reader that stops":                     {"mcp/mcphttp TestSlowReader"},
	"headers that disagree with the body":     {"mcp/mcphttp TestModernStatuses wrong Mcp-Name", "mcp/mcphttp TestParams other value"},
}
