"use strict";
// Drawing: scales, axes and the four kinds of plot. Nothing here knows what a page shows.
const Charts = (() => {
  const SPACE = "http://www.w3.org/2000/svg";

  function node(tag, attributes, ...children) {
    const made = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== undefined && value !== null) made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  const text = (x, y, words, attributes) => node("text", { x, y, ...attributes }, words);
  const line = (x1, y1, x2, y2, kind) => node("line", { x1, y1, x2, y2, class: kind });
  const round = (value) => Math.round(value * 100) / 100;

  function linear(from, to, start, end) {
    const factor = to > from ? (end - start) / (to - from) : 0;
    return (value) => start + (value - from) * factor;
  }

  function logarithmic(from, to, start, end) {
    const scale = linear(Math.log10(from), Math.log10(to), start, end);
    return (value) => scale(Math.log10(Math.max(value, from)));
  }

  function ticks(from, to, wanted) {
    if (!(to > from)) return [from];
    const rough = (to - from) / Math.max(wanted, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const near = (multiple) => Math.abs(Math.log((multiple * power) / rough));
    const step = [1, 2, 5, 10].reduce((a, b) => (near(b) < near(a) ? b : a)) * power;
    const found = [];
    for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k += 1) found.push(Number((k * step).toPrecision(10)));
    return found;
  }

  function number(value, digits = 3) {
    if (value === 0) return "0";
    if (!Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    if (size < 1e-3 || size >= 1e5) return value.toExponential(1).replace("e+", "e").replace("-", "−").replace("e-", "e−");
    return Number(value.toPrecision(digits)).toString().replace("-", "−");
  }

  // A mark's shape repeats what its colour says.
  function shape(which, x, y, r, kind) {
    const polygon = (points) => node("polygon", { points: points.map(([a, b]) => `${round(x + a * r)},${round(y + b * r)}`).join(" "), class: kind });
    switch (which % 5) {
      case 1: return polygon([[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]);
      case 2: return polygon([[0, -1.15], [1.1, 0.85], [-1.1, 0.85]]);
      case 3: return polygon([[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]]);
      case 4: return polygon([[-1.1, -0.85], [1.1, -0.85], [0, 1.15]]);
      default: return node("circle", { cx: round(x), cy: round(y), r, class: kind });
    }
  }

  const swatch = (style) =>
    node("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true", class: `k${style.color}` }, shape(style.shape, 0, 0, 5.5, "mark"));

  // ---- one tooltip for all plots; pointer, touch and arrow keys lead to it ----
  const tip = () => document.getElementById("tip");

  function showTip(lines, x, y) {
    const box = tip();
    box.replaceChildren(...lines.map((words, k) => Object.assign(document.createElement(k ? "span" : "b"), { textContent: words })));
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = x + 14 + width > window.innerWidth - 6 ? x - 14 - width : x + 14;
    const top = y + 14 + height > window.innerHeight - 6 ? y - 14 - height : y + 14;
    box.style.left = `${Math.max(6, left)}px`;
    box.style.top = `${Math.max(6, top)}px`;
  }

  const hideTip = () => { tip().hidden = true; };

  // marks: {x, y, lines, pick}; nearest: how to measure the way to one (by default in the plane).
  function interactive(picture, marks, { alongX = false, follow } = {}) {
    if (!marks.length) return;
    let at = -1;
    const layer = node("g", { "aria-hidden": "true" });
    picture.append(layer);
    picture.setAttribute("tabindex", "0");
    const show = (k, px, py) => {
      at = k;
      const mark = marks[k];
      layer.replaceChildren(follow ? line(mark.x, follow[0], mark.x, follow[1], "cursor") : node("circle", { cx: mark.x, cy: mark.y, r: 9, class: "ring" }));
      const area = picture.getBoundingClientRect();
      const scale = area.width / picture.viewBox.baseVal.width;
      showTip(mark.lines, px ?? area.left + mark.x * scale, py ?? area.top + mark.y * scale);
    };
    const leave = () => { layer.replaceChildren(); hideTip(); };
    const locate = (event) => {
      const area = picture.getBoundingClientRect();
      const scale = picture.viewBox.baseVal.width / area.width;
      const [x, y] = [(event.clientX - area.left) * scale, (event.clientY - area.top) * scale];
      let best = -1, least = alongX ? Infinity : 26 ** 2;
      marks.forEach((mark, k) => {
        const far = alongX ? Math.abs(mark.x - x) : (mark.x - x) ** 2 + (mark.y - y) ** 2;
        if (far < least) [best, least] = [k, far];
      });
      return best;
    };
    picture.addEventListener("pointermove", (event) => { const k = locate(event); if (k < 0) leave(); else show(k, event.clientX, event.clientY); });
    picture.addEventListener("pointerdown", (event) => { const k = locate(event); if (k >= 0) show(k, event.clientX, event.clientY); });
    picture.addEventListener("click", (event) => { const k = locate(event); if (k >= 0 && marks[k].pick) marks[k].pick(); });
    picture.addEventListener("pointerleave", leave);
    picture.addEventListener("blur", leave);
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        show((at + step + marks.length) % marks.length);
        document.getElementById("announce").textContent = marks[at].lines.join(", ");
      } else if (event.key === "Escape") leave();
      else if (event.key === "Enter" && at >= 0 && marks[at].pick) marks[at].pick();
    });
  }

  function canvas(host, height, label) {
    const width = Math.max(host.clientWidth, 180);
    const picture = node("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    host.replaceChildren(picture);
    return { picture, width };
  }

  const pen = document.createElement("canvas").getContext("2d");

  function textWidth(words) {
    pen.font = `700 12.5px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(words).width;
  }

  function bottomAxis(picture, scale, values, y, x0, x1, title, format, gridTop) {
    for (const value of values) {
      const x = round(scale(value));
      if (gridTop !== undefined) picture.append(line(x, gridTop, x, y, "grid"));
      else picture.append(line(x, y, x, y + 4, "axis"));
      picture.append(text(x, y + 16, format(value), { "text-anchor": "middle" }));
    }
    if (title) picture.append(text((x0 + x1) / 2, y + 34, title, { "text-anchor": "middle" }));
  }

  function leftAxis(picture, scale, values, x, x1, format) {
    for (const value of values) {
      const y = round(scale(value));
      picture.append(line(x, y, x1, y, "grid"), text(x - 6, y + 4, format(value), { "text-anchor": "end" }));
    }
  }

  // ---- rows of marks with error bars: one row a subject or an architecture ----
  // rows: {label, heading, note, selected, pick, marks: [{style, value, low, high, ci, dots, lines, show}]}
  function dotRows(host, rows, { title, label, zero, band, format, gap = 8, rowHeight = 36 }) {
    const sizes = rows.map((row) => (row.heading ? 30 : Math.max(row.marks.length > 1 ? row.marks.length * gap + 12 : rowHeight, 24)));
    const top = 6, bottom = 44;
    const height = top + sizes.reduce((a, b) => a + b, 0) + bottom;
    const { picture, width } = canvas(host, height, label);
    const longest = Math.max(28, ...rows.filter((row) => !row.heading).map((row) => textWidth(row.label)));
    const x0 = Math.min(longest + 16, width * 0.45), shown = rows.some((row) => (row.marks || []).some((mark) => mark.show));
    const x1 = width - (shown ? 58 : 12);
    const all = rows.flatMap((row) => (row.marks || []).flatMap((mark) => [mark.value, mark.low, mark.high, ...(mark.ci || []), ...(mark.dots || [])])).filter(Number.isFinite);
    if (zero) all.push(0, ...(band || []));
    let [from, to] = all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
    const pad = (to - from || Math.abs(to) || 1) * 0.05;
    from = !zero && from >= 0 && from < to * 0.45 ? 0 : from - pad;
    to += pad;
    const x = linear(from, to, x0, x1), end = height - bottom;
    if (band) picture.append(node("rect", { x: x(band[0]), y: top, width: x(band[1]) - x(band[0]), height: end - top, class: "band" }));
    bottomAxis(picture, x, ticks(from, to, Math.max(2, (x1 - x0) / 70)), end, x0, x1, title, format, top);
    const ground = node("g"), front = node("g"), marks = [];
    picture.append(ground);
    if (zero) picture.append(line(x(0), top, x(0), end, "zero"));
    picture.append(front);
    let y = top;
    rows.forEach((row, index) => {
      const size = sizes[index], middle = y + size / 2;
      if (row.heading) {
        front.append(node("rect", { x: 0, y: y + 2, width, height: size - 4, class: "paper" }), text(0, y + 20, row.heading, { class: "head" }));
        if (row.note && width > 430) front.append(text(textWidth(row.heading) + 10, y + 20, row.note));
      } else {
        if (row.selected) picture.insertBefore(node("rect", { x: 0, y, width, height: size, rx: 4, class: "stripe" }), picture.firstChild);
        const name = text(x0 - 10, middle + 4, row.label, { "text-anchor": "end", class: `row-label${row.selected ? " on" : ""}${row.pick ? " pick" : ""}` });
        if (row.pick) name.addEventListener("click", row.pick);
        front.append(name);
        ground.append(line(x0, round(middle + size / 2), x1, round(middle + size / 2), "grid"));
        row.marks.forEach((mark, k) => {
          const at = middle + (k - (row.marks.length - 1) / 2) * gap, group = node("g", { class: `k${mark.style.color}` });
          (mark.dots || []).forEach((value, i) => group.append(node("circle", { cx: round(x(value)), cy: round(at + ((i * 5) % 7 - 3) * 2.1), r: 2.6, class: "split" })));
          if (mark.ci) group.append(line(x(mark.ci[0]), at, x(mark.ci[1]), at, "ci"));
          if (mark.bar) group.append(line(x(0), at, x(mark.value), at, "bar-line"));
          const lone = row.marks.length === 1;
          if (Number.isFinite(mark.low)) {
            group.append(line(x(mark.low), at, x(mark.high), at, "bar-line"));
            if (lone) group.append(...[mark.low, mark.high].map((value) => line(x(value), at - 5, x(value), at + 5, "bar-line")));
          }
          group.append(shape(mark.style.shape, x(mark.value), at, lone ? 4.6 : 3.8, "mark"));
          front.append(group);
          if (mark.show) front.append(text(width - 2, at + 4, mark.show, { "text-anchor": "end", class: "value" }));
          marks.push({ x: x(mark.value), y: at, lines: mark.lines, pick: row.pick });
        });
      }
      y += size;
    });
    interactive(picture, marks);
  }

  // ---- magnitudes over frequencies: stems with a band, or many thin lines with their mean ----
  // series: {style, mean, low, high, many}
  function spectrum(host, { positions, series, log, title, label, describe, height = 230, stems = false, top }) {
    const { picture, width } = canvas(host, height, label);
    const values = series.many && series.many.length ? series.many.flat() : series.high || series.mean;
    const most = top || Math.max(...values, 1e-12), least = most * 1e-4;
    const x0 = 46, x1 = width - 8, y0 = height - (title ? 44 : 28), y1 = 8;
    const [from, to] = [Math.min(...positions), Math.max(...positions)], room = (to - from || 1) * 0.012;
    const x = linear(from - room, to + room, x0, x1);
    const y = log ? logarithmic(least, most, y0, y1) : linear(0, most * 1.04, y0, y1);
    const marksY = log ? [0, 1, 2, 3, 4].map((k) => most * 10 ** -k) : ticks(0, most, height > 200 ? 4 : 3);
    leftAxis(picture, y, marksY, x0, x1, (value) => number(value, 2));
    picture.append(line(x0, y0, x1, y0, "axis"));
    bottomAxis(picture, x, ticks(from, to, Math.max(2, (x1 - x0) / 62)), y0, x0, x1, title, (value) => number(value));
    const group = node("g", { class: `k${series.style.color}` });
    const path = (list) => list.map((value, i) => `${i ? "L" : "M"}${round(x(positions[i]))} ${round(y(value))}`).join("");
    if (series.high) {
      const back = [...series.low].map((value, i) => `L${round(x(positions[i]))} ${round(y(value))}`).reverse().join("");
      group.append(node("path", { d: `${path(series.high)}${back}Z`, class: "area" }));
    }
    (series.many || []).forEach((list) => group.append(node("path", { d: path(list), class: "thin", "stroke-opacity": round(Math.min(0.6, 0.12 + 3 / series.many.length)) })));
    if (stems) {
      const thick = Math.max(1, Math.min(3.5, ((x1 - x0) / positions.length) * 0.55));
      group.append(node("path", { d: series.mean.map((value, i) => `M${round(x(positions[i]))} ${y0}V${round(y(value))}`).join(""), class: "stem", "stroke-width": round(thick) }));
    } else group.append(node("path", { d: path(series.mean), class: "line mean" }));
    picture.append(group);
    interactive(picture, positions.map((value, i) => ({ x: x(value), y: y(series.mean[i]), lines: describe(i) })), { alongX: true, follow: [y1, y0] });
  }

  // ---- lines over steps ----
  // series: [{style, name, x, y}]
  function lines(host, series, { title, label, format, describe, height = 300 }) {
    const { picture, width } = canvas(host, height, label);
    const xs = series.flatMap((one) => one.x), ys = series.flatMap((one) => one.y).filter(Number.isFinite);
    const [low, high] = [Math.min(...ys), Math.max(...ys)], pad = (high - low || 1) * 0.06;
    const x0 = 46, x1 = width - 10, y0 = height - 44, y1 = 8;
    const x = linear(Math.min(...xs), Math.max(...xs), x0, x1), y = linear(Math.max(low - pad, low >= 0 ? 0 : low - pad), high + pad, y0, y1);
    leftAxis(picture, y, ticks(Math.max(low - pad, 0), high + pad, 5), x0, x1, format);
    picture.append(line(x0, y0, x1, y0, "axis"));
    bottomAxis(picture, x, ticks(Math.min(...xs), Math.max(...xs), Math.max(2, (x1 - x0) / 90)), y0, x0, x1, title, (value) => number(value));
    for (const one of series) {
      const path = one.x.map((step, i) => `${i ? "L" : "M"}${round(x(step))} ${round(y(one.y[i]))}`).join("");
      picture.append(node("g", { class: `k${one.style.color}` }, node("path", { d: path, class: "line" }), ...one.x.filter((_, i) => i % Math.ceil(one.x.length / 9) === 0).map((step) => shape(one.style.shape, x(step), y(one.y[one.x.indexOf(step)]), 3.6, "mark"))));
    }
    const steps = [...new Set(xs)].sort((a, b) => a - b);
    interactive(picture, steps.map((step) => ({ x: x(step), y: (y0 + y1) / 2, lines: describe(step) })), { alongX: true, follow: [y1, y0] });
  }

  // ---- a matrix as colours ----
  const RAMPS = {
    light: [[250, 250, 248], [198, 219, 239], [107, 174, 214], [33, 113, 181], [8, 48, 107], [3, 19, 43]],
    dark: [[22, 26, 32], [24, 58, 94], [20, 102, 165], [70, 160, 220], [165, 214, 246], [250, 253, 255]],
  };

  function ramp(stops, level) {
    const at = Math.min(Math.max(level, 0), 1) * (stops.length - 1), k = Math.min(Math.floor(at), stops.length - 2);
    return stops[k].map((value, c) => Math.round(value + (stops[k + 1][c] - value) * (at - k)));
  }

  function paint(columns, rows, level, stops) {
    const surface = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
    const context = surface.getContext("2d"), pixels = context.createImageData(columns, rows);
    for (let r = 0; r < rows; r += 1) {
      for (let c = 0; c < columns; c += 1) pixels.data.set([...ramp(stops, level(r, c)), 255], 4 * (r * columns + c));
    }
    context.putImageData(pixels, 0, 0);
    return surface.toDataURL("image/png");
  }

  // matrix: rows of magnitudes, row i = output frequency i; drawn with the first row at the bottom
  function heatmap(host, matrix, { label, dark, xTitle, yTitle, describe }) {
    const wide = Math.max(host.clientWidth, 180), size = wide - 52, n = matrix.length, m = matrix[0].length;
    const { picture } = canvas(host, size + 84, label);
    const most = Math.max(...matrix.flat(), 1e-300), stops = RAMPS[dark ? "dark" : "light"];
    const level = (r, c) => Math.sqrt(matrix[n - 1 - r][c] / most);
    const x0 = 44, y0 = 6;
    picture.append(node("image", { x: x0, y: y0, width: size, height: size, preserveAspectRatio: "none", href: paint(m, n, level, stops) }));
    picture.append(node("rect", { x: x0, y: y0, width: size, height: size, fill: "none", class: "axis" }));
    const x = linear(0, m, x0, x0 + size), y = linear(0, n, y0 + size, y0);
    for (const k of [1, Math.round(m / 2), m]) picture.append(text(x(k - 0.5), y0 + size + 15, describe.frequency(k - 1, m), { "text-anchor": "middle" }));
    for (const k of [1, Math.round(n / 2), n]) picture.append(text(x0 - 5, y(k - 0.5) + 4, describe.frequency(k - 1, n), { "text-anchor": "end" }));
    picture.append(text(x0 + size / 2, y0 + size + 32, xTitle, { "text-anchor": "middle" }));
    picture.append(text(0, 0, yTitle, { "text-anchor": "middle", transform: `translate(9 ${y0 + size / 2}) rotate(-90)` }));
    const legend = y0 + size + 44;
    picture.append(node("image", { x: x0, y: legend, width: size, height: 9, preserveAspectRatio: "none", href: paint(64, 1, (_, c) => c / 63, stops) }));
    for (const [share, anchor] of [[0, "start"], [0.25, "middle"], [1, "end"]]) picture.append(text(x0 + size * Math.sqrt(share), legend + 23, number(most * share, 2), { "text-anchor": anchor }));
    const cell = (r, c) => ({ x: x(c + 0.5), y: y(r + 0.5), lines: describe.cell(r, c) });
    picture.setAttribute("tabindex", "0");
    let at = [0, 0];
    const inside = (value, count) => Math.min(Math.max(value, 0), count - 1);
    const show = (px, py) => { const mark = cell(...at), area = picture.getBoundingClientRect(), scale = area.width / wide; showTip(mark.lines, px ?? area.left + mark.x * scale, py ?? area.top + mark.y * scale); };
    picture.addEventListener("pointermove", (event) => {
      const area = picture.getBoundingClientRect(), scale = wide / area.width;
      const c = Math.floor((((event.clientX - area.left) * scale - x0) / size) * m), r = Math.floor(((y0 + size - (event.clientY - area.top) * scale) / size) * n);
      if (c < 0 || r < 0 || c >= m || r >= n) hideTip();
      else { at = [r, c]; show(event.clientX, event.clientY); }
    });
    picture.addEventListener("pointerleave", hideTip);
    picture.addEventListener("blur", hideTip);
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
      if (event.key === "Escape") hideTip();
      if (!step) return;
      event.preventDefault();
      at = [inside(at[0] + step[0], n), inside(at[1] + step[1], m)];
      show();
      document.getElementById("announce").textContent = cell(...at).lines.join(", ");
    });
  }

  return { dotRows, spectrum, lines, heatmap, swatch, number };
})();
