"use strict";
// What the page shows: the chosen subject and setting, and which figures follow from them.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { words, models, subjects, views } = data;
  const byId = (id) => document.getElementById(id);
  const state = { subject: data.first, view: views[0].id, scale: "linear", axis: "index", input: "last" };
  const minus = (words_) => words_.replace("-", "−");
  const metric = (value, digits = words.digits) => `${(value * words.scale).toFixed(digits)}${words.unit.replace(" ", "\u00a0")}`;
  const percent = (value, digits = 1) => minus(`${value > 0 ? "+" : ""}${(value * 100).toFixed(digits)}\u00a0%`);
  const axisMetric = (value) => `${Charts.number(value * words.scale)}${words.unit}`;
  const axisPercent = (value) => minus(`${value > 0 ? "+" : ""}${Charts.number(value * 100).replace("−", "-")} %`);
  const label = (id) => models[id].label;
  const nameOf = (id) => subjects.find((subject) => subject.id === id).label;
  const seen = (table) => ((table || {})[state.view] || {})[state.subject];

  function unpack(packed) {
    const bytes = atob(packed.bytes), rows = [];
    for (let r = 0; r < packed.rows; r += 1) {
      rows.push(Array.from({ length: packed.columns }, (_, c) => packed.most * (bytes.charCodeAt(r * packed.columns + c) / 255) ** 2));
    }
    return rows;
  }

  function isDark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function element(tag, kind, ...children) {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    made.append(...children);
    return made;
  }

  // "v_N" as the paper sets it
  function subscripted(words_) {
    return words_.split(/_([N1])/).map((part, k) => (k % 2 ? element("sub", "", part) : part));
  }

  function nothing(host, reason) {
    host.replaceChildren(element("p", "empty", reason));
  }

  function legend(host, ids, extra = []) {
    host.replaceChildren(...ids.map((id) => element("li", "", Charts.swatch(models[id]), label(id))), ...extra);
  }

  // ---- figures of the chosen subject ----
  function errorLines(id, cell) {
    return [label(id), `${words.metric} ${metric(cell.mean)}`, `standard deviation ${metric(cell.std)}`, `${cell.values.length} splits`, ...(cell.settings ? [cell.settings] : [])];
  }

  function comparisonMark(id, cell, single) {
    return {
      style: models[id], value: cell.mean, low: cell.mean - cell.std / 3, high: cell.mean + cell.std / 3,
      dots: single ? cell.values : [], lines: errorLines(id, cell), show: single ? metric(cell.mean) : undefined,
    };
  }

  function drawComparison() {
    const host = document.querySelector("#fig-comparison .plot"), cells = seen(data.comparison) || {};
    const shown = data.compared.filter((id) => cells[id]), anchors = data.anchors.filter((id) => cells[id]);
    if (!shown.length && !anchors.length) return nothing(host, "These architectures have not been trained in this setting.");
    const rows = shown.map((id) => ({ label: label(id), marks: [comparisonMark(id, cells[id], true)] }));
    if (anchors.length) rows.push({ heading: words.anchors }, ...anchors.map((id) => ({ label: label(id), marks: [comparisonMark(id, cells[id], true)] })));
    Charts.dotRows(host, rows, { title: `${words.metric} on test`, format: axisMetric, label: `${nameOf(state.subject)}: ${shown.concat(anchors).map((id) => `${label(id)} ${metric(cells[id].mean)}`).join(", ")}` });
  }

  function changeMark(id, change, single) {
    const lines = [label(id), `${percent(change.value)} with respect to the GCNN`, ...(change.ci ? [`95 % interval ${percent(change.ci[0])} to ${percent(change.ci[1])}`] : [])];
    return { style: models[id], value: change.value, ci: single ? change.ci : undefined, bar: single, lines, show: single ? percent(change.value) : undefined };
  }

  function drawChange() {
    const host = document.querySelector("#fig-change .plot"), found = seen(data.change);
    if (!found) return nothing(host, "The GCNN, the base of this figure, has not been trained in this setting.");
    const shown = data.changed.filter((id) => found.models[id]);
    const rows = shown.map((id) => ({ label: label(id), marks: [changeMark(id, found.models[id], true)] }));
    const base = (seen(data.comparison) || {})[words.reference];
    if (base) rows.unshift({ label: label(words.reference), marks: [{ style: models[words.reference], value: 0, lines: [`${label(words.reference)}, the base`, ...errorLines(words.reference, base).slice(1)], show: metric(base.mean) }] });
    Charts.dotRows(host, rows, { zero: true, rowHeight: 58, band: [-data.tolerance, data.tolerance], title: `change of ${words.metric}`, format: axisPercent, label: `${nameOf(state.subject)}: ${shown.map((id) => `${label(id)} ${percent(found.models[id].value)}`).join(", ")}` });
  }

  function positions(eigenvalues, count) {
    return state.axis === "eigenvalue" ? eigenvalues : Array.from({ length: count }, (_, i) => i + 1);
  }

  const axisTitle = () => (state.axis === "eigenvalue" ? "eigenvalue" : "frequency, in order of eigenvalue");
  const frequency = (eigenvalues, i) => `frequency ${i + 1}, eigenvalue ${Charts.number(eigenvalues[i])}`;

  function drawSpectrum() {
    const host = document.querySelector("#fig-spectrum .plot"), found = seen(data.spectrum);
    if (!found) return nothing(host, "No analysis is stored for this choice.");
    const high = found.mean.map((value, i) => value + found.std[i]), low = found.mean.map((value, i) => Math.max(value - found.std[i], 0));
    Charts.spectrum(host, {
      positions: positions(found.eigenvalues, found.mean.length), log: state.scale === "log", stems: true, height: 250,
      series: { style: { color: 0 }, mean: found.mean, low, high }, title: axisTitle(),
      label: `Mean magnitude of the test signals of ${nameOf(state.subject)} at ${found.mean.length} frequencies`,
      describe: (i) => [frequency(found.eigenvalues, i), `mean magnitude ${Charts.number(found.mean[i])}`, `standard deviation ${Charts.number(found.std[i])}`],
    });
  }

  function panel(id, note) {
    const plot = element("div", "plot");
    return [plot, element("div", "panel", element("div", "panel-title", Charts.swatch(models[id]), label(id)), element("div", "panel-note", note), plot)];
  }

  const energy = (share, rest) => (Number.isFinite(share) ? `${(100 * share).toFixed(share > 0.0005 && share < 0.01 ? 1 : 0)}\u00a0% of the energy is created${rest}` : "");

  function panels(where, note, draw) {
    const host = document.querySelector(where), found = seen(data.creation) || {};
    const ids = data.created.filter((id) => found[id]);
    if (!ids.length) return nothing(host, "No analysis is stored for this choice.");
    const made = ids.map((id) => [id, ...panel(id, note(found[id]))]);
    host.replaceChildren(...made.map((one) => one[2]));
    return made.forEach(([id, plot]) => draw(plot, id, found[id]));
  }

  function drawResponses() {
    const first = state.input === "first";
    panels("#fig-responses .panels", (found) => energy(found.shares[state.input], ""), (plot, id, found) => {
      const many = first ? [] : unpack(found.filters), count = found.eigenvalues.length;
      const mean = first ? found.first || [] : Array.from({ length: count }, (_, i) => many.reduce((sum, row) => sum + row[i], 0) / many.length);
      if (!mean.length) return nothing(plot, "No response is stored.");
      return Charts.spectrum(plot, {
        positions: positions(found.eigenvalues, count), log: state.scale === "log", height: 200, series: { style: models[id], mean, many }, title: state.axis === "eigenvalue" ? "eigenvalue" : "frequency",
        label: `${label(id)}: output magnitudes at ${count} frequencies for the input ${first ? "v_1" : "v_N"}. ${energy(found.shares[state.input], "")}`,
        describe: (i) => [frequency(found.eigenvalues, i), `mean of the filters ${Charts.number(mean[i])}`, ...(many.length ? [`largest ${Charts.number(Math.max(...many.map((row) => row[i])))}`] : [])],
      });
    });
  }

  function drawTransfer() {
    panels("#fig-transfer .panels", (found) => energy(found.shares.mean, ", mean over inputs"), (plot, id, found) => {
      if (!found.transfer) return nothing(plot, "No map is stored.");
      const matrix = unpack(found.transfer), total = found.eigenvalues.length;
      const real = (k, count) => (count === total ? k + 1 : Math.round(((k + 0.5) / count) * total + 0.5));
      return Charts.heatmap(plot, matrix, {
        dark: isDark(), xTitle: "input frequency", yTitle: "output frequency",
        label: `${label(id)}: transfer map of ${matrix.length} by ${matrix[0].length} frequencies`,
        describe: {
          frequency: (k, count) => String(k === 0 ? 1 : k === count - 1 ? total : real(k, count)),
          cell: (r, c) => [`in ${real(c, matrix[0].length)} → out ${real(r, matrix.length)}`, `magnitude ${Charts.number(matrix[r][c])}`],
        },
      });
    });
  }

  function drawCurves() {
    const figure = byId("fig-curves"), found = seen(data.curves) || {}, host = figure.querySelector(".plot");
    const ids = [...data.compared, ...data.changed, words.reference, ...data.anchors].filter((id, k, all) => found[id] && all.indexOf(id) === k);
    legend(figure.querySelector(".legend"), ids);
    if (!ids.length) return nothing(host, "No curves are stored for this choice.");
    const series = ids.map((id) => ({ style: models[id], name: label(id), x: found[id].steps, y: found[id].mean }));
    Charts.lines(host, series, {
      title: "training step", format: axisMetric, label: `Validation curves of ${ids.map(label).join(", ")}`,
      describe: (step) => [`step ${step}`, ...series.flatMap((one) => { const i = one.x.indexOf(step); return i < 0 ? [] : [`${one.name} ${metric(one.y[i])}`]; })],
    });
  }

  // ---- figures of all subjects ----
  function drawAll() {
    const figure = byId("fig-all"), cells = (data.comparison || {})[state.view] || {};
    const ids = data.compared.filter((id) => subjects.some((subject) => (cells[subject.id] || {})[id]));
    legend(figure.querySelector(".legend"), ids);
    const rows = subjects.filter((subject) => cells[subject.id]).map((subject) => ({
      label: subject.label, selected: subject.id === state.subject, pick: () => choose({ subject: subject.id }),
      marks: ids.filter((id) => cells[subject.id][id]).map((id) => {
        const mark = comparisonMark(id, cells[subject.id][id], false);
        return { ...mark, lines: [`${subject.label}: ${label(id)}`, ...mark.lines.slice(1)] };
      }),
    }));
    Charts.dotRows(figure.querySelector(".plot"), rows, { title: `${words.metric} on test`, format: axisMetric, gap: 6.5, label: `${words.metric} of ${ids.map(label).join(", ")} for ${rows.length} ${words.subjects}` });
  }

  function drawGroups() {
    const figure = byId("fig-groups"), found = (data.change || {})[state.view] || {};
    legend(figure.querySelector(".legend"), data.changed.filter((id) => Object.values(found).some((one) => one.models[id])));
    const rows = data.groups.flatMap((group) => {
      const members = subjects.filter((subject) => found[subject.id] && found[subject.id].group === group.id);
      if (!members.length) return [];
      const share = Math.round((100 * members.length) / Object.keys(found).length);
      return [{ heading: `${group.label} (${members.length}, ${share} %)`, note: group.note }, ...members.map((subject) => ({
        label: subject.label, selected: subject.id === state.subject, pick: () => choose({ subject: subject.id }),
        marks: data.changed.filter((id) => found[subject.id].models[id]).map((id) => {
          const mark = changeMark(id, found[subject.id].models[id], false);
          return { ...mark, lines: [`${subject.label}: ${label(id)}`, ...mark.lines.slice(1)] };
        }),
      }))];
    });
    if (!rows.length) return nothing(figure.querySelector(".plot"), "The GCNN, the base of this figure, has not been trained in this setting.");
    return Charts.dotRows(figure.querySelector(".plot"), rows, { zero: true, band: [-data.tolerance, data.tolerance], title: `change of ${words.metric}`, format: axisPercent, gap: 6.5, label: `Change with respect to the GCNN for ${Object.keys(found).length} ${words.subjects}` });
  }

  function drawTiles() {
    const cells = seen(data.comparison) || {}, change = seen(data.change), creation = seen(data.creation) || {};
    const tile = (name, value, note) => element("div", "tile", element("div", "value", value), element("div", "label", name), element("div", "note", ...subscripted(note)));
    const ranked = data.compared.filter((id) => cells[id]).sort((a, b) => cells[a].mean - cells[b].mean);
    const tiles = [];
    if (ranked.length) tiles.push(tile(`${label(ranked[0])}: ${ranked[1] ? "lowest " : ""}${words.metric}`, metric(cells[ranked[0]].mean), ranked[1] ? `of the ${ranked.length} compared; next ${label(ranked[1])}, ${metric(cells[ranked[1]].mean)}` : ""));
    for (const id of ["learn-nvgf", "lsigf"]) {
      const found = change && change.models[id];
      if (found) tiles.push(tile(`${label(id)} against the GCNN`, percent(found.value), found.ci ? `95 % interval ${percent(found.ci[0])} to ${percent(found.ci[1])}` : `relative change of the ${words.metric}`));
    }
    const made = creation["learn-nvgf"];
    if (made && Number.isFinite(made.shares.last)) tiles.push(tile("Energy created by the Learn NVGF", `${(100 * made.shares.last).toFixed(0)}\u00a0%`, "of its output for the input v_N lies at other frequencies"));
    byId("tiles").replaceChildren(...tiles);
  }

  function describeInput() {
    const spectrum = seen(data.spectrum), found = Object.values(seen(data.creation) || {});
    const lines = state.input === "last"
      ? ["The input is the eigenvector of the largest eigenvalue, v_N, alone. Thin lines: magnitude of the output at every frequency, one for each of the F filters; thick line: their mean. Whatever lies left of N was created."]
      : ["The input is the eigenvector of the smallest eigenvalue, v_1, alone. Line: magnitude of the output at every frequency, mean over the F filters. Whatever lies right of 1 was created."];
    if (state.input === "last" && spectrum && spectrum.oneSign) lines.push("On this graph all entries of v_N have one sign: a ReLU passes a multiple of it whole or not at all, and a GCNN creates nothing from it.");
    fill("input", lines.join(" "));
    fill("thinned", found.length && found[0].every > 1 && state.input === "last" ? `Every ${found[0].every}th filter is drawn.` : "");
  }

  // ---- choice, tables, claims ----
  function fill(name, value) {
    document.querySelectorAll(`[data-text="${name}"]`).forEach((place) => { place.replaceChildren(...subscripted(value)); });
  }

  function draw() {
    const cells = seen(data.comparison) || {}, counts = Object.values(cells).map((cell) => cell.values.length);
    fill("subject", subjects.find((subject) => subject.id === state.subject).title);
    const splits = Math.max(0, ...counts);
    fill("splits", splits === 1 ? "1 split" : `${splits} splits`);
    fill("anchors", data.anchors.some((id) => cells[id]) ? `${words.anchors} stand beside them on the same signals and splits.` : "");
    describeInput();
    drawTiles();
    drawComparison();
    drawChange();
    drawSpectrum();
    drawResponses();
    drawTransfer();
    drawCurves();
    if (subjects.length > 1) { drawAll(); drawGroups(); }
    document.querySelectorAll("[data-view]").forEach((part) => { part.hidden = part.dataset.view !== state.view; });
    document.querySelectorAll("tr[data-subject]").forEach((row) => { row.classList.toggle("chosen", subjects.length > 1 && row.dataset.subject === state.subject); });
    document.querySelectorAll("#views button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.value === state.view)));
    byId("subject").value = state.subject;
  }

  function choose(change) {
    Object.assign(state, change);
    draw();
    byId("announce").textContent = `${nameOf(state.subject)}, ${views.find((view) => view.id === state.view).label}`;
    try {
      window.history.replaceState(null, "", `#${new URLSearchParams({ [words.subject]: state.subject, setting: state.view })}`);
    } catch { /* a page without an address of its own keeps its choice to itself */ }
  }

  function restore() {
    const wanted = new URLSearchParams(window.location.hash.slice(1));
    if (subjects.some((subject) => subject.id === wanted.get(words.subject))) state.subject = wanted.get(words.subject);
    if (views.some((view) => view.id === wanted.get("setting"))) state.view = wanted.get("setting");
  }

  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const order = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", order > 0 ? "ascending" : "descending");
        const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
        const compare = (a, b) => {
          const [x, y] = [value(a), value(b)];
          if (x === "" || y === "") return (x === "") - (y === "");  // what is missing comes last, both ways
          const [p, q] = [Number(x), Number(y)];
          return order * (Number.isNaN(p) || Number.isNaN(q) ? x.localeCompare(y) : p - q);
        };
        const body = table.tBodies[0];
        body.append(...[...body.rows].sort(compare));
      });
    });
  }

  function segments(host, key) {
    host.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => {
      host.querySelectorAll("button").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      state[key] = button.dataset.value;
      drawSpectrum();
      drawResponses();
      describeInput();
    }));
  }

  function step(by) {
    const at = subjects.findIndex((subject) => subject.id === state.subject);
    choose({ subject: subjects[(at + by + subjects.length) % subjects.length].id });
  }

  function filters(host) {
    const buttons = [...host.querySelectorAll("button")];
    buttons.forEach((button) => button.addEventListener("click", () => {
      buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      host.parentElement.querySelectorAll(".claim").forEach((claim) => { claim.hidden = button.dataset.verdict !== "all" && claim.dataset.verdict !== button.dataset.verdict; });
    }));
  }

  byId("subject").addEventListener("change", (event) => choose({ subject: event.target.value }));
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("views").querySelectorAll("button").forEach((button) => button.addEventListener("click", () => choose({ view: button.dataset.value })));
  byId("theme").addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; drawTransfer(); });
  document.querySelectorAll("table").forEach(sortable);
  document.querySelectorAll("tr[data-subject]").forEach((row) => row.addEventListener("click", () => choose({ subject: row.dataset.subject })));
  segments(byId("scale"), "scale");
  segments(byId("axis"), "axis");
  segments(byId("input"), "input");
  document.querySelectorAll(".filters").forEach(filters);
  if (subjects.length < 2) { byId("overview").hidden = true; byId("previous").hidden = true; byId("next").hidden = true; }
  if (views.length < 2) byId("views").hidden = true;
  restore();
  draw();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTransfer);
  window.addEventListener("hashchange", () => { restore(); draw(); });
  let width = window.innerWidth;
  window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; draw(); } });
})();
