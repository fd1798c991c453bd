// The page of TestCodeMirror: an editor for one note, whose language server is
// reached over WebSocket. Where both are is in the page's query: server, the
// folder's uri, and the note's name.
import { EditorView, basicSetup } from "codemirror";
import { LSPClient, languageServerExtensions } from "@codemirror/lsp-client";

const query = new URLSearchParams(location.search);
const uri = `${query.get("folder")}/${query.get("note")}`;
const socket = new WebSocket(query.get("server"));
const handlers = new Set();
socket.onmessage = (event) => handlers.forEach((handle) => handle(event.data));
socket.onclose = (event) => document.body.append(Object.assign(document.createElement("p"), { id: "closed", textContent: String(event.code) }));
socket.onopen = async () => {
  const client = new LSPClient({ rootUri: query.get("folder"), timeout: 60_000, extensions: languageServerExtensions() });
  client.connect({
    send: (message) => socket.send(message),
    subscribe: (handler) => handlers.add(handler),
    unsubscribe: (handler) => handlers.delete(handler),
  });
  await client.initializing;
  const doc = await (await fetch(`/${query.get("note")}`)).text();
  window.view = new EditorView({ doc, extensions: [basicSetup, client.plugin(uri, "markdown")], parent: document.body });
};
