// SPDX-License-Identifier: BSD-3-Clause
// A browser starts no worker from a file. The search of a site that is opened as files runs in a
// hidden frame instead, which takes and gives messages as a worker does.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.worker = this;
      this.loaded = new Promise((done) => (this.frame.onload = done));
      const answer =
        "postMessage = (data) => frameElement.worker.dispatchEvent(" +
        'new parent.MessageEvent("message", {data}))';
      this.frame.srcdoc = `<script>${answer}</script><script src="${url}"></script>`;
      document.body.append(this.frame);
    }
    async postMessage(data) {
      await this.loaded;
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data}));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
