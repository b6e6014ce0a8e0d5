// In a query, "-rf" and "--scope" are words. The search would leave out the pages that have them. And it would find every word
// that begins with "a": words that say nothing are left out, unless there are no others.
const QUERY = 2;
const EMPTY = /(^|\s)(?:a|an|the|of|to|in|is|it|my|me|do|does|i|how|what|where|which|when|for|and|or|can)(?=\s|$)/gi;
const plain = (query) => query.replace(/(^|\s)[-+]+/g, "$1");
const send = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
  if (message?.type === QUERY) {
    const words = plain(message.data);
    message = { ...message, data: words.replace(EMPTY, "$1").trim() || words };
  }
  return send.call(this, message, ...others);
};

document.querySelector(".md-search").ariaLabel = "Search";
