"""The view: what hooks decide, live in a browser, and answers from there."""
