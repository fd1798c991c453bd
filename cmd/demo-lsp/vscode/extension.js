// The extension starts demo-lsp for Markdown files and leaves the rest to
// vscode-languageclient, which asks the server what it can do.
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

const section = "tandemNotes";

/** @type {LanguageClient | undefined} */
let client;

// Starts and stops run one after the other, however fast they are asked for.
let turn = Promise.resolve();
const inTurn = (work) => (turn = turn.then(work, work));

async function start() {
  const settings = vscode.workspace.getConfiguration(`${section}.server`);
  const server = {
    command: settings.get("path"),
    args: settings.get("args"),
    transport: TransportKind[settings.get("transport")], // the client adds the flag for it
  };
  client = new LanguageClient(section, "Tandem notes", server, {
    documentSelector: [
      { scheme: "file", language: "markdown" },
      { scheme: "untitled", language: "markdown" },
    ],
  });
  try {
    await client.start();
  } catch (err) {
    const open = "Open Settings";
    // Nobody waits for the answer: it may never come.
    vscode.window
      .showErrorMessage(`Tandem notes cannot start ${server.command}: ${err.message ?? err}`, open)
      .then((chosen) => chosen && vscode.commands.executeCommand("workbench.action.openSettings", section));
  }
}

async function stop() {
  const last = client;
  client = undefined;
  if (last?.needsStop()) await last.stop();
}

/** activate is called when the first Markdown file opens. */
exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand(`${section}.restart`, () => inTurn(stop).then(() => inTurn(start))),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(`${section}.server`)) inTurn(stop).then(() => inTurn(start));
    }),
  );
  await inTurn(start);
};

/** deactivate is called when the window closes, and waits for the server to end. */
exports.deactivate = () => inTurn(stop);
