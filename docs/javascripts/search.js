// In a query, "-rf" and "--scope" are words. The search would leave out the pages that have them.
const QUERY = 2;
const send = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
  if (message?.type === QUERY) message = { ...message, data: message.data.replace(/(^|\s)[-+]+/g, "$1") };
  return send.call(this, message, ...others);
};

document.querySelector(".md-search").ariaLabel = "Search";
