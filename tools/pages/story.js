// SPDX-License-Identifier: Apache-2.0
//
// story.js - plays stories (doc/output.md, "heddle.story/1").
//
// Every <figure class="story" data-story="ID"> shows the story in <script type="application/json" id="ID">. With
// data-autoplay the figure plays when it is first seen. Figures in one element of class "stories" have common controls.
// A story is at a position from 0, before its first step, to its number of steps.
(function () {
  'use strict';

  const SPEEDS = [0.25, 0.5, 1, 2, 4];
  const AUTOPLAY_MS = 800;
  const REGION_DRAWN_WHOLE = 256; // sectors; of larger regions only the lines that the story touches are drawn
  const SOURCE_AROUND = 5; // lines above and below the current one
  const STRIP_STEPS = 600; // longer stories have no coloured strip
  const SWIM_LANES = 8; // at most so many rows: a story in which more lanes act has a strip and the lanes of its warps
  const DETAILS = ['case', 'seed', 'from', 'bug', 'atomic operations']; // facts that are folded away

  // What a step does, in classes that have a colour each.
  const CLASS_OF = {
    'reads': 'read', 'writes': 'write', 'counts': 'write', 'claims': 'claim', 'fails to claim': 'fail',
    'publishes': 'publish', 'takes effect': 'effect', 'votes': 'together', 'meets its tile': 'together',
    'orders memory': 'together'
  };
  const CLASS_WORDS = {
    read: 'reads', write: 'writes, counts', claim: 'claims', fail: 'fails to claim', publish: 'publishes',
    effect: 'takes effect', together: 'votes, waits', other: 'other'
  };
  const classOf = (step) => CLASS_OF[step.does] || 'other';

  // Words that a story may use, for readers who meet them for the first time.
  const WORDS = [
    ['kernel', 'a function that many threads of the GPU run at once'],
    ['lane', 'a GPU thread; 32 of them are a warp, and warps are in blocks'],
    ['item', 'one operation of the batch: a key, and what to do with it'],
    ['digest', 'a hash byte of the key; it is compared first'],
    ['score', 'who leaves a full bucket first: the entry with the least score'],
    ['locked', 'a lane holds the slot; others must leave it alone'],
    ['pin count', 'how many entries must not be evicted now'],
    ['claims', 'takes a lock or a slot, by an atomic operation that only one lane can win'],
    ['publishes', 'makes what was written before visible to other lanes'],
    ['takes effect', 'the outcome of the item is decided here'],
    ['ld', 'plain read'], ['ldrlx', 'relaxed read: atomic, without an order'],
    ['ldacq', 'acquire read: sees what was written before the release write that it reads'],
    ['st', 'plain write'], ['strlx', 'relaxed write: atomic, without an order'],
    ['strel', 'release write: earlier writes are visible before it'],
    ['cas', 'compare-and-swap: writes only if the value is the expected one'],
    ['add', 'atomic addition']
  ];

  function element(tag, className, text) {
    const e = document.createElement(tag);
    if (className) e.className = className;
    if (text !== undefined && text !== null) e.textContent = text;
    return e;
  }

  function add(parent, ...children) {
    for (const child of children) if (child) parent.append(child);
    return parent;
  }

  // Long hexadecimal numbers keep their first and last four digits.
  const short = (text) => text.replace(/0x([0-9a-f]{4})[0-9a-f]{2,}([0-9a-f]{4})(?![0-9a-f])/g, '0x$1…$2');

  // "0", "0-31", "0 3 7"
  function laneNames(lanes) {
    const parts = [];
    for (let i = 0; i < lanes.length; i++) {
      const first = lanes[i];
      while (i + 1 < lanes.length && lanes[i + 1] === lanes[i] + 1) i++;
      parts.push(lanes[i] > first ? first + '-' + lanes[i] : String(first));
    }
    return parts.join(' ');
  }

  function valueOf(step) {
    const has = (v) => v !== null && v !== undefined && v !== '';
    if (has(step.before) && has(step.after) && step.before !== step.after) return step.before + ' → ' + step.after;
    if (step.unchanged) return '= ' + step.before + ' (unchanged)';
    if (has(step.before)) return '= ' + step.before;
    return has(step.after) ? '→ ' + step.after : '';
  }

  function whoOf(step) {
    const lanes = step.lanes || [];
    if (!lanes.length) return step.who || '';
    return (step.who ? step.who + ', ' : '') + (lanes.length > 1 ? 'lanes ' : 'lane ') + laneNames(lanes);
  }

  // A step as a sentence: the parts of it.
  function sentenceOf(step) {
    const operation = step.operation && step.operation !== step.does ? step.operation : '', who = whoOf(step);
    if (step.does === 'takes effect' && step.place)
      return { who, what: step.place + ' takes effect' + (step.after ? ': ' + step.after : ''), value: '', operation };
    const count = step.does === 'counts' && (step.place || '').startsWith('count of ');
    const does = (count ? 'adds to the' : step.does) + (step.times > 1 ? ' ' + step.times + ' times' : '');
    return { who, what: [does, step.place].filter(Boolean).join(' '), value: valueOf(step), operation };
  }

  function sentenceText(step) {
    const s = sentenceOf(step);
    const value = s.value ? ' ' + s.value : '', operation = s.operation ? ' (' + s.operation + ')' : '';
    return (s.who ? s.who + ': ' : '') + s.what + value + operation;
  }

  // "lane 0 claims key in bucket 0, slot 1"
  const actText = (step) => {
    const lanes = step.lanes || [];
    const who = lanes.length ? (lanes.length > 1 ? 'lanes ' : 'lane ') + laneNames(lanes) : step.who;
    return (who ? who + ' ' : '') + sentenceOf(step).what;
  };

  function fold(className, name, ...parts) {
    return add(element('details', className), element('summary', '', name), ...parts);
  }

  // A sign below a box that goes on to the right, until it has been scrolled there.
  function moreOf(box) {
    const sign = element('p', 'st-more', 'It goes on to the right: scroll →');
    const look = () => { sign.hidden = box.scrollLeft + box.clientWidth >= box.scrollWidth - 1; };
    sign.hidden = true;
    box.addEventListener('scroll', look);
    const watch = new ResizeObserver(look);
    watch.observe(box);
    watch.observe(box.firstElementChild || box);
    return sign;
  }

  const reducedMotion = () => window.matchMedia('(prefers-reduced-motion: reduce)').matches;
  const scrolls = (e) => e.scrollHeight > e.clientHeight;

  class Player {
    constructor(figure, story) {
      this.figure = figure;
      this.story = story;
      this.steps = story.steps;
      this.at = 0;
      this.timer = 0;
      this.speed = 1;
      this.moved = new Map();
      this.prepare();
      this.build();
      this.draw();
    }

    // ---- What is shown at a position -------------------------------------------------------------------------

    // The cells as they are, what each step replaces, and the sectors before each step.
    prepare() {
      this.cells = this.story.panels.map((panel) => panel.cells.map((row) => row.slice()));
      const cells = this.story.panels.map((panel) => panel.cells.map((row) => row.slice()));
      this.undo = [];
      this.sectorsBefore = [(this.story.skipped && this.story.skipped.sectors) || 0];
      for (const step of this.steps) {
        const old = [];
        for (const [p, r, c, text] of step.sets) {
          old.push([p, r, c, cells[p][r][c]]);
          cells[p][r][c] = text;
        }
        this.undo.push(old.reverse());
        this.sectorsBefore.push(this.sectorsBefore[this.sectorsBefore.length - 1] + step.sectors.length);
      }
      this.whos = [];
      for (const step of this.steps)
        if ((step.lanes || []).length && !this.whos.includes(step.who)) this.whos.push(step.who);
      this.decisive = ((this.story.finding || {}).steps || []).filter((i) => i >= 0 && i < this.steps.length);
      this.prepareActors();
    }

    // Who acts: each lane for itself, or whoever is no lane. Lanes are in their order. Lanes that only vote and count
    // have no row, if others have one.
    prepareActors() {
      const actors = new Map();
      this.steps.forEach((step, i) => {
        const idle = step.does === 'counts' || classOf(step) === 'together';
        for (const lane of (step.lanes || []).length ? step.lanes : [-1]) {
          const who = step.who || '', key = lane + ' ' + who;
          if (!actors.has(key)) actors.set(key, { who, lane, steps: [], idle: true });
          actors.get(key).steps.push(i);
          actors.get(key).idle &&= idle;
        }
      });
      const all = [...actors.values()], busy = all.filter((a) => !a.idle);
      const drawn = busy.length ? busy : all;
      this.idle = all.length - drawn.length;
      this.swims = this.steps.length > 0 && this.steps.length <= STRIP_STEPS && drawn.length <= SWIM_LANES &&
        this.whos.length > 0;
      if (!this.swims) return;
      const order = (a) => a.lane < 0 ? this.whos.length : this.whos.indexOf(a.who);
      this.actors = drawn.sort((a, b) => order(a) - order(b) || a.lane - b.lane);
      for (const a of this.actors) {
        const lane = 'lane ' + a.lane;
        a.name = a.lane < 0 ? a.who || 'other' : this.whos.length > 1 ? a.who + ', ' + lane : lane;
      }
    }

    write(changes) {
      for (const [p, r, c, text] of changes) {
        this.cells[p][r][c] = text;
        this.fill(this.cellAt[p][r][c], text);
        this.dim(p, r);
      }
    }

    go(position) {
      const to = Math.max(0, Math.min(this.steps.length, position));
      while (this.at < to) {
        this.countSectors(this.steps[this.at], 1);
        this.write(this.steps[this.at++].sets);
      }
      while (this.at > to) {
        this.write(this.undo[--this.at]);
        this.countSectors(this.steps[this.at], -1);
      }
      this.draw();
    }

    // ---- Playing ------------------------------------------------------------------------------------------------

    get playing() { return this.timer !== 0; }

    interval() { return (this.steps.length <= 30 ? 400 : 250) / this.speed; }

    play() {
      if (this.playing) return;
      this.dropStill();
      if (this.at === this.steps.length) this.go(0);
      const next = () => {
        this.go(this.at + 1);
        this.timer = this.at < this.steps.length ? window.setTimeout(next, this.interval()) : 0;
        this.drawPlaying();
      };
      this.timer = window.setTimeout(next, this.interval());
      this.drawPlaying();
    }

    pause() {
      window.clearTimeout(this.timer);
      this.timer = 0;
      this.drawPlaying();
    }

    move(position) {
      this.pause();
      this.dropStill();
      this.go(position);
    }

    // The reader moves: the note on motion has said what it had to.
    dropStill() {
      if (this.still) this.still.remove();
      this.still = null;
    }

    // The commands of buttons and keys.
    act(name) {
      if (name === 'play') this.playing ? this.pause() : this.play();
      if (name === 'first') this.move(0);
      if (name === 'back') this.move(this.at - 1);
      if (name === 'step') this.move(this.at + 1);
      if (name === 'last') this.move(this.steps.length);
      if (name === 'help') this.toggleHelp();
    }

    toggleHelp() {
      this.help.hidden = !this.help.hidden;
      this.button.help.setAttribute('aria-expanded', String(!this.help.hidden));
    }

    // ---- Building -----------------------------------------------------------------------------------------------

    build() {
      const s = this.story;
      const title = s.title || 'Story';
      this.figure.setAttribute('aria-label', title);
      this.figure.tabIndex = -1;
      const head = element('figcaption', 'st-head');
      add(head, element('h2', 'st-title', title), s.about ? element('p', 'st-about', s.about) : null);
      const facts = element('dl', 'st-facts');
      const details = element('dl', 'st-facts');
      for (const [name, value] of s.facts)
        add(DETAILS.includes(name) ? details : facts,
          add(element('div'), element('dt', '', name), element('dd', '', value)));
      if (facts.childElementCount) add(head, facts);
      if (details.childElementCount) add(head, fold('st-fold', 'Details', details));
      const k = s.skipped || {};
      const leftOut = (which, n) => element('p', 'st-skipped',
        'The ' + which + ' ' + n + (n === 1 ? ' step is' : ' steps are') + ' left out, because the story is long.');
      if (k.steps) add(head, leftOut('first', k.steps));
      if (k.after) add(head, leftOut('last', k.after));
      add(this.figure, head, this.buildFinding(), this.buildControls(title), this.buildWords(), this.buildSentence());
      const body = element('div', 'st-body');
      const main = element('div', 'st-main');
      const side = element('div', 'st-side');
      this.buildPanels(main);
      add(side, this.buildLanes(), this.buildSource(), this.buildMemory());
      add(this.figure, add(body, main, side.childElementCount ? side : null), this.buildLog());
      if (s.command)
        add(this.figure, add(element('p', 'st-command'), 'Show it again: ', element('code', '', s.command)));
      this.figure.addEventListener('keydown', (event) => keyFor(event, [this]));
    }

    buildFinding() {
      const f = this.story.finding;
      if (!f) return null;
      const box = element('section', 'st-finding');
      box.setAttribute('aria-label', 'What went wrong');
      add(box, element('h3', '', 'What went wrong'), element('p', 'st-wrong', f.sentence));
      if (f.said) add(box, add(element('p', 'st-said'), element('b', '', 'The check reported: '), f.said));
      if (f.by) add(box, add(element('p', 'st-by'), element('b', '', 'Found by: '), f.by));
      add(box, this.buildDecisive(f));
      if (f.change) add(box, this.buildChange(f.change));
      if (f.concerned && f.concerned.length) {
        const list = element('ul', 'st-concerned');
        for (const line of f.concerned) add(list, element('li', '', line));
        add(box, fold('st-fold', 'Who, and where in the source', list));
      }
      if (f.schedule)
        add(box, fold('st-fold', 'Schedule, to run it again',
                      element('p', 'st-schedule', 'Step at which another lane goes on, and how many places further it is:'),
                      add(element('p', 'st-schedule'), element('code', '', f.schedule))));
      this.finding = box;
      return box;
    }

    // Buttons that go to the steps that matter, and to the one where the check objected.
    buildDecisive(f) {
      const list = element('ol', 'st-decisive');
      const button = (at, text) => {
        const b = element('button', 'st-goto');
        b.type = 'button';
        add(b, element('b', '', 'step ' + at + ': '), text);
        b.addEventListener('click', () => this.move(at));
        add(list, add(element('li'), b));
      };
      for (const i of this.decisive) button(i + 1, actText(this.steps[i]));
      if (this.steps.length) button(this.steps.length, 'here the check objects');
      return list.childElementCount ? add(element('div'), element('h4', '', 'The steps that matter'), list) : null;
    }

    buildChange(text) {
      const change = fold('st-change', 'The change that is the bug'), pre = element('pre');
      change.open = true;
      for (const line of text.replace(/\n$/, '').split('\n'))
        add(pre, element('div', line.startsWith('- ') ? 'st-old' : line.startsWith('+ ') ? 'st-new' : 'st-in', line));
      pre.tabIndex = 0;
      return add(change, pre);
    }

    // The words that this story uses.
    buildWords() {
      const used = new Set();
      const see = (text) => { for (const w of String(text || '').split(/[^a-z_]+/)) used.add(w); };
      for (const step of this.steps) [step.does, step.place, step.operation, step.before, step.after].forEach(see);
      for (const panel of this.story.panels) [...panel.columns, ...panel.rows].forEach(see);
      [this.story.title, this.story.about].forEach(see);
      if (this.whos.length) used.add('lane');
      const list = element('dl', 'st-words');
      for (const [word, meaning] of WORDS)
        if (word.split(' ').every((w) => used.has(w)))
          add(list, add(element('div'), element('dt', '', word), element('dd', '', meaning)));
      return list.childElementCount ? fold('st-fold st-legend-words', 'What the words mean', list) : null;
    }

    buildControls(title) {
      const bar = element('div', 'st-controls');
      bar.setAttribute('role', 'group');
      bar.setAttribute('aria-label', 'Controls: ' + title);
      this.button = buttons(bar, (name) => this.act(name));
      this.slider = element('input', 'st-slider');
      Object.assign(this.slider, { type: 'range', min: 0, max: this.steps.length, value: 0, step: 1 });
      this.slider.setAttribute('aria-label', 'Step');
      this.slider.addEventListener('input', () => this.move(Number(this.slider.value)));
      this.position = element('output', 'st-position');
      const speed = element('select', 'st-speed');
      speed.setAttribute('aria-label', 'Speed');
      for (const x of SPEEDS) {
        const option = element('option', '', x + '×');
        option.value = x;
        option.selected = x === 1;
        add(speed, option);
      }
      speed.addEventListener('change', () => { this.speed = Number(speed.value); });
      const time = element('div', 'st-time');
      if (this.steps.length <= STRIP_STEPS && !this.swims) add(time, this.buildStrip());
      add(bar, add(time, this.slider), add(element('span', 'st-end'), this.position, speed, this.button.help));
      this.help = element('p', 'st-help', 'Keys: space plays or pauses; ← and → step back and forward; ' +
        'Home and End go to the first and the last step; ? shows or hides this line.');
      this.help.hidden = true;
      return add(element('div', 'st-bar'), bar, this.help, this.swims ? this.buildSwim() : null);
    }

    // The class of a step's mark: whether the step is decisive, and whether the check objected there.
    markOf(i) {
      const last = this.story.finding && i === this.steps.length - 1;
      return (this.decisive.includes(i) ? ' st-matters' : '') + (last ? ' st-objects' : '');
    }

    // A row for each lane that acts, and a column for each step. The slider is the control for the keyboard.
    buildSwim() {
      const box = element('div', 'st-swim'), grid = element('div', 'st-swim-grid');
      const place = (e, row, from, to) => {
        e.style.gridRow = row;
        e.style.gridColumn = from + (to ? ' / ' + to : '');
        add(grid, e);
        return e;
      };
      const least = this.steps.length > 60 ? 0.3 : 0.6;
      grid.style.gridTemplateColumns = 'max-content repeat(' + this.steps.length + ', minmax(' + least + 'rem, 1fr))';
      this.now = place(element('span', 'st-swim-now'), '1 / ' + (this.actors.length + 2), 2);
      this.marks = [];
      const heads = this.steps.map((step, i) => {
        const matters = this.markOf(i);
        if (!matters) return null;
        return place(element('span', 'st-swim-mark' + matters, matters.includes('objects') ? '✕' : '▼'), 1, i + 2);
      });
      this.actors.forEach((actor, a) => {
        const name = place(element('span', 'st-swim-who', actor.name), a + 2, 1);
        name.dataset.steps = actor.steps.map((i) => i + 1).join(' ');
        place(element('span', 'st-swim-life'), a + 2, actor.steps[0] + 2, actor.steps[actor.steps.length - 1] + 3);
        for (const i of actor.steps) {
          const mark = place(element('span', 'st-mark st-act st-' + classOf(this.steps[i])), a + 2, i + 2);
          mark.dataset.step = i + 1;
          this.marks.push(mark);
        }
      });
      for (const mark of [...this.marks, ...heads.filter(Boolean)]) {
        const i = Number.parseInt(mark.style.gridColumnStart, 10) - 2;
        mark.title = (i + 1) + ': ' + sentenceText(this.steps[i]);
      }
      grid.addEventListener('click', (event) => {
        const mark = event.target.closest('.st-mark, .st-swim-mark');
        if (mark) this.move(Number.parseInt(mark.style.gridColumnStart, 10) - 1);
      });
      grid.setAttribute('aria-hidden', 'true');
      box.tabIndex = 0;
      box.setAttribute('role', 'region');
      const share = (a) => a.name + ' in ' + a.steps.length + ' of ' + this.steps.length + ' steps';
      box.setAttribute('aria-label', 'Who acts when: ' + this.actors.map(share).join('; '));
      this.swim = box;
      const idle = this.idle ? element('span', 'st-idle', this.idle + (this.idle > 1 ? ' lanes, which only vote and ' +
        'count, are' : ' lane, which only votes and counts, is') + ' not drawn') : null;
      return add(element('div', 'st-scroll'), add(box, grid, add(this.buildLegend(), idle)), moreOf(box));
    }

    buildLegend() {
      const legend = element('p', 'st-legend');
      const present = new Set(this.steps.map(classOf));
      for (const name of Object.keys(CLASS_WORDS))
        if (present.has(name)) add(legend, add(element('span'), element('i', 'st-key st-' + name), CLASS_WORDS[name]));
      return legend;
    }

    // A coloured mark for each step; the slider below it is the control for the keyboard.
    buildStrip() {
      const strip = element('div', 'st-strip');
      strip.setAttribute('aria-hidden', 'true');
      this.marks = this.steps.map((step, i) => {
        const mark = element('span', 'st-mark st-' + classOf(step) + this.markOf(i));
        mark.title = (i + 1) + ': ' + sentenceText(step);
        mark.addEventListener('click', () => this.move(i + 1));
        return mark;
      });
      add(strip, ...this.marks);
      return strip;
    }

    buildSentence() {
      this.sentence = element('p', 'st-sentence');
      this.note = element('p', 'st-note');
      const box = element('div', 'st-now');
      box.setAttribute('role', 'status');
      this.status = box;
      return add(box, this.sentence, this.note);
    }

    buildPanels(parent) {
      this.cellAt = [];
      this.rowAt = [];
      this.panelBox = [];
      this.story.panels.forEach((panel, p) => {
        const box = element('div', 'st-panel' + (panel.columns.length < 3 && panel.rows.length < 4 ? ' st-small' : ''));
        const table = element('table');
        const line = element('tr');
        add(line, element('td'));
        for (const name of panel.columns) {
          const th = element('th', '', name);
          th.scope = 'col';
          add(line, th);
        }
        add(table, element('caption', '', panel.name), add(element('thead'), line));
        const body = element('tbody');
        this.rowAt.push([]);
        this.cellAt.push(panel.rows.map((name, r) => {
          const row = element('tr');
          const th = element('th', '', name);
          th.scope = 'row';
          add(row, th);
          const cells = panel.columns.map((_, c) => {
            const td = element('td');
            this.fill(td, panel.cells[r][c]);
            add(row, td);
            return td;
          });
          add(body, row);
          this.rowAt[p].push(row);
          return cells;
        }));
        panel.rows.forEach((_, r) => this.dim(p, r));
        box.dataset.panel = p;
        box.tabIndex = 0;
        box.setAttribute('role', 'region');
        box.setAttribute('aria-label', panel.name);
        this.panelBox.push(box);
        add(parent, add(element('div', 'st-scroll' + (box.classList.contains('st-small') ? ' st-small' : '')),
          add(box, add(table, body)), moreOf(box)));
      });
    }

    // Of an empty slot the other columns are what is left there, and mean nothing.
    dim(p, r) {
      const key = this.story.panels[p].columns.indexOf('key');
      this.rowAt[p][r].classList.toggle('st-vacant', key >= 0 && this.cells[p][r][key] === 'empty');
    }

    fill(td, text) {
      const shown = short(text);
      td.textContent = shown;
      if (shown !== text) td.title = text;
      else td.removeAttribute('title');
      td.classList.toggle('st-none', text === '' || text === 'empty' || text === 'not written');
    }

    buildLanes() {
      if (!this.whos.length || this.swims) return null;
      const box = element('section', 'st-lanes');
      add(box, element('h3', '', 'Lanes'));
      this.laneAt = new Map();
      const grid = element('div', 'st-warps');
      for (const who of this.whos) {
        const row = element('div', 'st-warp');
        row.dataset.who = who;
        add(row, element('span', 'st-who', who));
        const lanes = element('span', 'st-lane-row');
        lanes.setAttribute('aria-hidden', 'true');
        const all = [];
        for (let i = 0; i < 32; i++) {
          const lane = element('i', 'st-lane');
          lane.title = 'lane ' + i;
          all.push(lane);
        }
        add(lanes, ...all);
        this.laneAt.set(who, all);
        add(grid, add(row, lanes));
      }
      return add(box, grid, this.buildLegend());
    }

    buildMemory() {
      if (!this.story.memory.length) return null;
      const box = element('section', 'st-memory');
      this.count = element('span', 'st-count');
      const paper = this.story.facts.find(([name]) => name === "paper's sectors");
      const counter = add(element('p', 'st-counter'), this.count);
      if (paper) add(counter, ' — the paper: ' + paper[1]);
      add(box, element('h3', '', 'Memory, in sectors of 32 bytes'), counter);
      const touched = this.story.memory.map(() => new Set());
      for (const step of this.steps) for (const [region, sector] of step.sectors) touched[region].add(sector >> 2);
      this.sectorAt = this.story.memory.map((region, r) => {
        const row = element('div', 'st-region');
        const squares = element('span', 'st-squares');
        squares.setAttribute('aria-hidden', 'true');
        const at = new Map();
        const lines = Math.ceil(region.sectors / 4);
        const whole = region.sectors <= REGION_DRAWN_WHOLE;
        let last = -1;
        for (let l = 0; l < lines; l++) {
          if (!whole && !touched[r].has(l)) continue;
          if (l > last + 1) add(squares, element('span', 'st-gap', '…'));
          last = l;
          const line = element('span', 'st-memory-line');
          for (let s = 4 * l; s < Math.min(4 * l + 4, region.sectors); s++) {
            const square = element('i', 'st-sector');
            square.dataset.sector = s;
            at.set(s, square);
            add(line, square);
          }
          add(squares, line);
        }
        if (last < lines - 1) add(squares, element('span', 'st-gap', '…'));
        add(box, add(row, element('span', 'st-region-name', region.name), squares));
        return at;
      });
      return box;
    }

    buildSource() {
      if (!Object.keys(this.story.sources).length) return null;
      this.lines = {};
      for (const [name, text] of Object.entries(this.story.sources)) this.lines[name] = text.split('\n');
      const box = element('section', 'st-source');
      this.sourceName = element('span', 'st-file');
      this.sourceText = element('div', 'st-code');
      this.sourceText.tabIndex = 0;
      this.sourceText.setAttribute('role', 'region');
      this.sourceText.setAttribute('aria-label', 'Source');
      return add(box, add(element('h3', '', 'Source '), this.sourceName), this.sourceText);
    }

    buildLog() {
      const log = element('details', 'st-log');
      const list = element('ol');
      add(log, element('summary', '', 'All ' + this.steps.length + ' steps'), list);
      log.addEventListener('toggle', () => {
        if (!log.open || list.childElementCount) return;
        this.entries = this.steps.map((step, i) => {
          const item = element('button', 'st-entry');
          item.type = 'button';
          add(item, element('i', 'st-key st-' + classOf(step)), short(sentenceText(step)));
          item.addEventListener('click', () => this.move(i + 1));
          add(list, add(element('li'), item));
          return item;
        });
        this.drawLog();
      });
      return log;
    }

    // ---- Drawing ------------------------------------------------------------------------------------------------

    draw() {
      const step = this.at ? this.steps[this.at - 1] : null;
      this.slider.value = this.at;
      this.slider.setAttribute('aria-valuetext', this.at + ' of ' + this.steps.length);
      this.position.textContent = this.at + ' / ' + this.steps.length;
      if (this.swims) this.drawSwim();
      else if (this.marks) this.marks.forEach((mark, i) => mark.classList.toggle('st-done', i < this.at));
      this.drawSentence(step);
      this.drawCells(step);
      if (this.laneAt) this.drawLanes(step);
      if (this.sectorAt) this.drawMemory(step);
      if (this.lines) this.drawSource(step);
      this.drawLog();
      this.drawPlaying();
    }

    drawSwim() {
      this.now.hidden = !this.at;
      this.now.style.gridColumn = String(this.at + 1);
      for (const mark of this.marks) {
        mark.classList.toggle('st-done', Number(mark.dataset.step) <= this.at);
        mark.classList.toggle('st-on', Number(mark.dataset.step) === this.at);
      }
      const box = this.swim, left = this.now.offsetLeft, head = 96;
      if (!this.at) box.scrollLeft = 0;
      else if (left < box.scrollLeft + head) box.scrollLeft = left - head;
      else if (left + 24 > box.scrollLeft + box.clientWidth) box.scrollLeft = left + 24 - box.clientWidth;
    }

    drawSentence(step) {
      this.sentence.textContent = '';
      if (!step) {
        add(this.sentence, 'Before the first step.');
      } else {
        const s = sentenceOf(step);
        if (s.who) add(this.sentence, element('span', 'st-subject', s.who + ':'), ' ');
        add(this.sentence, element('strong', 'st-does st-' + classOf(step), s.what));
        if (s.value) add(this.sentence, ' ', element('span', 'st-value', s.value));
        if (s.operation) add(this.sentence, ' ', element('span', 'st-operation', '(' + s.operation + ')'));
      }
      this.note.textContent = this.noteOf(step);
      this.note.hidden = !this.note.textContent;
    }

    // The last step of a finding is where the check objects.
    noteOf(step) {
      const f = this.story.finding;
      const last = f && this.at === this.steps.length ? 'Here the check objects: ' + (f.said || f.sentence) : '';
      const matters = step && this.decisive.includes(this.at - 1) ? 'This step matters for what went wrong.' : '';
      return [step && step.note, matters, last].filter(Boolean).join(' ');
    }

    drawCells(step) {
      for (const td of this.marked || [])
        td.className = td.className.replace(/ ?\b(st-changed|st-looked|st-by-\w+)/g, '');
      this.marked = [];
      const mark = (p, r, c, name) => {
        const td = this.cellAt[p][r][c];
        td.classList.add(name);
        this.marked.push(td);
        this.reveal(this.panelBox[p], this.rowAt[p][r]);
      };
      if (!step) return;
      for (const [p, r, c] of step.looks) mark(p, r, c, 'st-looked');
      for (const [p, r, c] of step.unchanged ? [] : step.sets) {
        mark(p, r, c, 'st-changed');
        this.cellAt[p][r][c].classList.add('st-by-' + classOf(step));
      }
    }

    // Scrolls a long panel, never the page.
    reveal(box, row) {
      if (!scrolls(box)) return;
      const top = row.offsetTop, end = top + row.offsetHeight, head = 64;
      if (top < box.scrollTop + head) box.scrollTop = Math.max(0, top - head);
      if (end > box.scrollTop + box.clientHeight) box.scrollTop = end - box.clientHeight + 8;
    }

    drawLanes(step) {
      for (const lane of this.lit || []) lane.className = 'st-lane';
      this.lit = [];
      const all = step && this.laneAt.get(step.who);
      for (const i of (all && step.lanes) || []) {
        all[i].className = 'st-lane st-on st-' + classOf(step);
        this.lit.push(all[i]);
      }
      this.figure.querySelectorAll('.st-warp').forEach((row) =>
        row.classList.toggle('st-current', !!all && row.dataset.who === step.who));
    }

    drawMemory(step) {
      this.count.textContent = '32-byte sectors moved so far: ' + this.sectorsBefore[this.at];
      for (const square of this.moving || []) square.className = square.className.replace(/ st-on.*/, '');
      this.moving = (step ? step.sectors : []).map(([r, s]) => this.sectorAt[r].get(s));
      for (const square of this.moving)
        if (!square.classList.contains('st-on')) square.className += ' st-on st-' + classOf(step);
    }

    // How often each sector was moved so far: `by` is 1 for a step forward, -1 for a step back.
    countSectors(step, by) {
      for (const [r, s] of this.sectorAt ? step.sectors : []) {
        const square = this.sectorAt[r].get(s), moved = (this.moved.get(square) || 0) + by;
        this.moved.set(square, moved);
        square.className = 'st-sector' + (moved ? ' st-seen' : '');
      }
    }

    drawSource(step) {
      const site = step && step.site ? /^(.*):(\d+)$/.exec(step.site) : null;
      const lines = site && this.lines[site[1]];
      this.sourceName.textContent = site ? step.site : '';
      this.sourceText.textContent = '';
      const pre = element('pre');
      const current = site ? Number(site[2]) : 0;
      const added = lines && this.addedAt(lines[current - 1], step);
      if (lines)
        for (let n = current - SOURCE_AROUND; n <= current + SOURCE_AROUND; n++) {
          const known = n >= 1 && n <= lines.length;
          const line = element('div', 'st-line' + (n === current ? ' st-current' : ''));
          if (n === current) line.setAttribute('aria-current', 'true');
          line.dataset.line = n;
          const text = !known ? '' : n === current && added ? added : lines[n - 1];
          add(pre, add(line, element('span', 'st-number', known ? n : ''), element('code', '', text)));
        }
      else add(pre, element('div', 'st-line', site ? 'The text of this file is not in the page.' : ' '));
      add(this.sourceText, pre);
      const at = pre.querySelector('.st-current');
      const above = at ? (this.sourceText.clientHeight - at.offsetHeight) / 2 : 0;
      this.sourceText.scrollTop = at ? at.offsetTop - pre.offsetTop - above : 0;
    }

    // A step of a text with a bug stands at the line that the change replaces: the line of the change that has the
    // step's operation, if it is a single one.
    addedAt(line, step) {
      const change = this.story.finding && this.story.finding.change;
      if (!change || !step.operation || !change.split('\n').includes('- ' + line)) return null;
      const found = change.split('\n').filter((l) => l.startsWith('+ ') && l.includes('simt_' + step.operation + '_'));
      return found.length === 1 ? found[0].slice(2) : null;
    }

    drawLog() {
      if (!this.entries) return;
      if (this.entry) {
        this.entry.classList.remove('st-current');
        this.entry.removeAttribute('aria-current');
      }
      this.entry = this.at ? this.entries[this.at - 1] : null;
      if (!this.entry) return;
      this.entry.classList.add('st-current');
      this.entry.setAttribute('aria-current', 'step');
    }

    drawPlaying() {
      if (!this.button) return;
      labelPlay(this.button.play, this.playing);
      this.button.first.disabled = this.button.back.disabled = this.at === 0;
      this.button.step.disabled = this.button.last.disabled = this.at === this.steps.length;
      this.status.setAttribute('aria-live', this.playing ? 'off' : 'polite');
      this.figure.dispatchEvent(new CustomEvent('storymove', { bubbles: true }));
    }

    autoplay() {
      if (!reducedMotion()) {
        window.setTimeout(() => { if (this.at === 0) this.play(); }, AUTOPLAY_MS);
        return;
      }
      if (this.at) return;
      this.go(this.steps.length);
      this.still = element('p', 'st-still', 'This shows the last step, because your system asks for reduced motion.');
      add(this.figure.querySelector('.st-bar'), this.still);
    }
  }

  // ---- Controls -----------------------------------------------------------------------------------------------------

  const CONTROLS = { first: 'First', back: 'Back', play: 'Play', step: 'Step', last: 'Last', help: 'Keys' };
  const ICONS = {
    first: 'M4 4h2v12H4zM16 4v12L7 10z', back: 'M13 4v12L5 10z', play: 'M6 3v14l11-7z', step: 'M7 4v12l8-6z',
    last: 'M14 4h2v12h-2zM4 4v12l9-6z', pause: 'M5 3h4v14H5zM11 3h4v14h-4z'
  };

  function icon(name) {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', '0 0 20 20');
    svg.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('d', ICONS[name]);
    svg.append(path);
    return svg;
  }

  // The buttons by name, in a bar.
  function buttons(bar, act, of) {
    const made = {};
    for (const [name, label] of Object.entries(CONTROLS)) {
      const b = element('button', 'st-button st-do-' + name);
      b.type = 'button';
      b.setAttribute('aria-label', of ? label + of : label);
      b.title = label;
      add(b, name === 'help' ? '?' : icon(name));
      if (name === 'help') b.setAttribute('aria-expanded', 'false');
      b.addEventListener('click', () => act(name));
      made[name] = b;
      add(bar, b);
    }
    return made;
  }

  function labelPlay(button, playing, of) {
    const label = (playing ? 'Pause' : 'Play') + (of || '');
    if (button.getAttribute('aria-label') === label && button.dataset.drawn) return;
    button.dataset.drawn = '1';
    button.setAttribute('aria-label', label);
    button.title = playing ? 'Pause' : 'Play';
    button.replaceChildren(icon(playing ? 'pause' : 'play'));
  }

  const KEYS = { ' ': 'play', 'ArrowLeft': 'back', 'ArrowRight': 'step', 'Home': 'first', 'End': 'last', '?': 'help' };

  const STEP_KEYS = [' ', 'ArrowLeft', 'ArrowRight']; // Home and End move a page of text

  // The player of which most is in the window: at least half of it, or half of the window. undefined: there is none.
  function inView(players) {
    const high = document.documentElement.clientHeight;
    const seen = (player) => {
      const at = player.figure.getBoundingClientRect();
      const part = Math.min(at.bottom, high) - Math.max(at.top, 0);
      return part >= Math.min(at.height, high) / 2 ? part : 0;
    };
    return players.filter((p) => seen(p) > 0).sort((a, b) => seen(b) - seen(a))[0];
  }

  // Keys that a control of its own uses stay with it.
  function keyFor(event, players, only) {
    const name = !only || only.includes(event.key) ? KEYS[event.key] : undefined;
    const on = event.target;
    if (!name || event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (on.matches('select, textarea, input:not([type=range])')) return;
    if (name === 'play' && on.matches('button, summary, a')) return;
    const overflows = on.scrollWidth > on.clientWidth || scrolls(on);
    if (on.matches('.st-panel, .st-code, .st-swim') && name !== 'play' && name !== 'help' && overflows) return;
    event.preventDefault();
    players.forEach((player, i) => { if (name !== 'help' || i === 0) player.act(name); });
  }

  function common(container, players) {
    const bar = element('div', 'st-controls st-common');
    bar.setAttribute('role', 'group');
    bar.setAttribute('aria-label', 'Controls: all stories');
    const playing = () => players.some((p) => p.playing);
    const act = (name) => {
      if (name !== 'play') players.forEach((p) => p.act(name));
      else if (playing()) players.forEach((p) => p.pause());
      else {
        const all = players.every((p) => p.at === p.steps.length);
        players.forEach((p) => { if (all || p.at < p.steps.length) p.play(); });
      }
    };
    add(bar, element('span', 'st-common-name', 'All together'));
    const button = buttons(bar, act, ' (all stories)');
    button.help.remove();
    const drawn = () => labelPlay(button.play, playing(), ' (all stories)');
    container.addEventListener('storymove', drawn);
    drawn();
    container.before(bar);
    // What went wrong in one of them stands above all of them, so that their controls and tables are beside each other.
    const wrong = players.filter((p) => p.finding);
    if (wrong.length === 1) bar.before(wrong[0].finding);
  }

  // ---- The page -----------------------------------------------------------------------------------------------------

  function playerOf(figure) {
    const data = document.getElementById(figure.dataset.story);
    return data ? new Player(figure, JSON.parse(data.textContent)) : null;
  }

  // Plays a figure once its controls are seen.
  function autoplayWhenSeen(player) {
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((e) => e.isIntersecting)) return;
      watch.disconnect();
      player.autoplay();
    });
    watch.observe(player.figure.querySelector('.st-bar'));
  }

  function start() {
    const players = [];
    document.querySelectorAll('figure.story[data-story]').forEach((figure) => {
      if (figure.dataset.built) return;
      figure.dataset.built = '1';
      const player = playerOf(figure);
      if (player) players.push(player);
    });
    document.querySelectorAll('.stories').forEach((container) => {
      const inside = players.filter((p) => container.contains(p.figure));
      if (inside.length > 1) common(container, inside);
    });
    players.filter((p) => 'autoplay' in p.figure.dataset).forEach(autoplayWhenSeen);
    // Keys act wherever the focus is: on a page of stories alone on all of them, elsewhere on the one in view.
    const alone = document.body.classList.contains('st-page');
    if (players.length)
      document.addEventListener('keydown', (event) => {
        if (event.target.closest('figure.story')) return;
        if (alone) return keyFor(event, players);
        const seen = inView(players);
        if (seen) keyFor(event, [seen], STEP_KEYS);
      });
  }

  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
})();
