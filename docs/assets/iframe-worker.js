// Browsers allow no worker in a page that was opened from the disk, and the search is one: there it
// runs in a hidden frame, which gets its messages and answers as a worker would.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      addEventListener("message", (event) => {
        if (event.source !== frame.contentWindow) return;
        event.stopImmediatePropagation();
        this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
      this.postMessage = (data) => waiting.push(data);
      frame.addEventListener("load", () => {
        this.postMessage = (data) =>
          frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
        waiting.forEach((data) => this.postMessage(data));
      });
      const answer = 'postMessage = (data) => parent.postMessage(data, "*")';
      frame.srcdoc = `<script>${answer}</script><script src="${url}"></script>`;
      const add = () => document.body.append(frame);
      document.body ? add() : addEventListener("DOMContentLoaded", add);
    }
  };
}
