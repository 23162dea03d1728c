// SPDX-License-Identifier: Apache-2.0
//
// site.js - what the pages of the site do: the list of pages on narrow screens, the search, sliders over stories.
// Nothing is fetched: the index of the search is a script (search-index.js) that is loaded when it is needed.
"use strict";
(() => {
  const up = document.documentElement.dataset.up;
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // ---- The list of pages ----

  document.documentElement.classList.add("script");
  const menu = document.getElementById("nav-menu");
  const pages = document.getElementById("nav-pages");
  menu.addEventListener("click", () => {
    menu.setAttribute("aria-expanded", String(pages.classList.toggle("open")));
  });

  // ---- Search ----

  let loading = null;
  function loaded() {
    loading ??= new Promise((done, failed) => {
      const script = make("script", { src: up + "search-index.js", onerror: failed });
      script.onload = () => done(globalThis.heddleIndex);
      document.head.append(script);
    });
    return loading;
  }

  const wordsOf = (text) => text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(Boolean);

  /** Where a word of the text begins with one of these words; words of a name, as in hd_open, count. */
  const beginnings = (words) =>
    new RegExp("(?<![\\p{L}\\p{N}])(" + words.map((w) => w.replace(/[^\p{L}\p{N}_]/gu, "\\$&")).join("|") + ")", "giu");

  /** How often words of a text begin with the word, and how much that says: more if it is all of one. */
  function weight(text, pattern) {
    let best = 0, count = 0;
    for (const found of text.matchAll(pattern)) {
      const ends = /^(?![\p{L}\p{N}_])/u.test(text.slice(found.index + found[0].length));
      best = Math.max(best, ends ? 4 : 2);
      count++;
    }
    return { best, count };
  }

  /** The sections that have every word, the best first: [row, score]. */
  function search(index, query) {
    const patterns = wordsOf(query).map((word) => beginnings([word]));
    if (!patterns.length) return [];
    const found = [];
    for (const row of index) {
      let score = 0;
      for (const pattern of patterns) {
        const [title, heading, text] = row.slice(1).map((part) => weight(part, pattern));
        const points = 8 * heading.best + 3 * title.best + 2 * text.best + Math.min(text.count, 5) / 2;
        if (points === 0) { score = 0; break; }
        score += points;
      }
      if (score && row[0].startsWith("chapters/", 4)) score += 2;
      if (score) found.push([row, score]);
    }
    return found.sort((a, b) => b[1] - a[1]);
  }

  /** The text around the first word that is found, with all words marked. */
  function snippet(text, query, length) {
    const pattern = beginnings(wordsOf(query));
    const first = Math.max(0, text.search(pattern));
    const start = first > 60 ? text.lastIndexOf(" ", first - 40) + 1 : 0;
    const end = start + length;
    const part = (start ? "... " : "") + text.slice(start, end) + (end < text.length ? " ..." : "");
    const element = make("span", { className: "snippet" });
    part.split(pattern).forEach((piece, i) => element.append(i % 2 ? make("mark", { textContent: piece }) : piece));
    return element;
  }

  function result(row, query, length) {
    const name = row[2] && row[2] !== row[1] ? row[1] + ": " + row[2] : row[1];
    const where = make("span", { className: "where", textContent: name });
    return make("a", { href: up + row[0] }, where, snippet(row[3], query, length));
  }

  // The field at the top of every page: a list of the best, chosen with the arrow keys.
  const quick = document.getElementById("nav-q");
  const list = make("ul", { id: "nav-suggest", className: "suggest", hidden: true });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Sections found");
  quick.after(list);
  const combobox = {
    role: "combobox", "aria-expanded": "false", "aria-controls": "nav-suggest", "aria-autocomplete": "list"
  };
  for (const [name, value] of Object.entries(combobox)) quick.setAttribute(name, value);
  let chosen = -1;

  function choose(at) {
    const items = [...list.querySelectorAll('[role="option"]')];
    if (!items.length) return;
    chosen = (at + items.length) % items.length;
    items.forEach((item, i) => item.setAttribute("aria-selected", String(i === chosen)));
    quick.setAttribute("aria-activedescendant", items[chosen].id);
    items[chosen].scrollIntoView({ block: "nearest" });
  }

  function close() {
    list.hidden = true;
    chosen = -1;
    quick.setAttribute("aria-expanded", "false");
    quick.removeAttribute("aria-activedescendant");
  }

  async function suggest() {
    const query = quick.value;
    if (!wordsOf(query).length) return close();
    const index = await loaded();
    if (query !== quick.value) return;
    const ofPage = {};
    const found = search(index, query).filter(([row]) => (ofPage[row[1]] = (ofPage[row[1]] ?? 0) + 1) <= 2).slice(0, 8);
    chosen = -1;
    quick.removeAttribute("aria-activedescendant");
    list.replaceChildren(...found.map(([row], i) => {
      const item = make("li", { id: "nav-suggest-" + i }, result(row, query, 110));
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.firstChild.tabIndex = -1;
      return item;
    }));
    if (!found.length) {
      list.append(make("li", { className: "none", textContent: "No section has all of these words." }));
    }
    list.hidden = false;
    quick.setAttribute("aria-expanded", "true");
  }

  quick.addEventListener("input", suggest);
  quick.addEventListener("focus", suggest);
  quick.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen < 0 ? -1 : chosen - 1);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" && chosen >= 0) list.children[chosen].firstChild.click();
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => { if (!event.target.closest(".quick")) close(); });
  quick.form.addEventListener("focusout", (event) => {
    if (!quick.form.contains(event.relatedTarget)) setTimeout(close, 150);
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      quick.focus();
      event.preventDefault();
    }
  });

  // The page search.html: all that is found, and the words in its address.
  const field = document.getElementById("nav-words");
  if (field) {
    const show = async () => {
      const query = field.value;
      const index = await loaded();
      if (query !== field.value) return;
      const found = search(index, query);
      const shown = found.slice(0, 60).map(([row]) => make("li", {}, result(row, query, 260)));
      document.getElementById("nav-found").replaceChildren(...shown);
      document.getElementById("nav-count").textContent = !wordsOf(query).length
        ? "Type one or more words. A section is found if it has all of them."
        : found.length + (found.length === 1 ? " section" : " sections") +
          (found.length > shown.length ? ", the best " + shown.length + " of them" : "");
    };
    field.value = new URLSearchParams(location.search).get("q") ?? "";
    field.addEventListener("input", show);
    field.form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
    if (field.value) show();
    field.focus();
  }

  // ---- Sliders: one story at a time ----

  for (const slider of document.querySelectorAll(".slider")) {
    const input = slider.querySelector("input");
    const output = slider.querySelector("output");
    const choices = [...slider.querySelectorAll(".choice")];
    const show = () => {
      const at = Number(input.value) - 1;
      choices.forEach((choice, i) => { choice.hidden = i !== at; });
      const text = at + 1 + " of " + choices.length + ": " + choices[at].dataset.label;
      output.textContent = text;
      input.setAttribute("aria-valuetext", text);
    };
    input.addEventListener("input", show);
    show();
  }
})();
