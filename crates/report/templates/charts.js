// Draws the charts of the page and lets the reader select what they show.
//
// Each chart is a <figure class="chart"> with its data as JSON beside it: one view (traces and layout)
// for every combination of its choices. A trace's `meta` is the legend entry that switches it.
(() => {
  "use strict";

  const NARROW = 560; // px; narrower charts use smaller type
  const config = {
    displaylogo: false,
    doubleClick: "reset",
    responsive: true,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
  };
  const charts = [];

  // The data name colours as variables of the style sheet, some followed by an opacity.
  function coloured(data) {
    const style = getComputedStyle(document.documentElement);
    const lookUp = (_, name) => style.getPropertyValue(name).trim();
    const resolve = (_, value) => typeof value === "string" ? value.replace(/^var\((--[\w-]+)\)/, lookUp) : value;
    return JSON.parse(JSON.stringify(data, resolve));
  }

  function start(figure) {
    const plot = figure.querySelector(".plot");
    const { views } = JSON.parse(figure.querySelector(".figure-data").textContent);
    const switches = [...figure.querySelectorAll(".series-switch")];
    const choices = [...figure.querySelectorAll("fieldset[data-choice]")];

    const isOn = (button) => button.getAttribute("aria-pressed") === "true";
    const picks = () => choices.map((choice) => Number(choice.querySelector("input:checked").value));

    const first = new Set(switches.filter(isOn).map((button) => Number(button.dataset.entry)));
    let given; // the layout drawn last

    function draw(width) {
      const word = picks().join("-");
      const view = views.find((candidate) => candidate.picks.join("-") === word);
      const shown = new Set(switches.filter(isOn).map((button) => Number(button.dataset.entry)));
      const traces = coloured(view.traces).map((trace) => ({ ...trace, visible: shown.has(trace.meta) }));
      const narrow = (width ?? plot.clientWidth) < NARROW;
      // Use the wide layout once the reader has switched on a hidden series.
      const all = view.wide && view.traces.some((trace) => shown.has(trace.meta) && !first.has(trace.meta));
      given = all ? view.wide : view.layout;
      const size = width ? { autosize: false, width, height: given.height ?? 340 } : {};
      // Rows of names need a height of their own.
      if (given.height) plot.style.height = `${given.height}px`;
      const type = { ...given.font, size: narrow ? 11.5 : given.font.size };
      for (const part of figure.querySelectorAll(".behind-view")) {
        part.hidden = part.dataset.picks !== word;
      }
      for (const button of switches) {
        button.disabled = !view.traces.some((trace) => trace.meta === Number(button.dataset.entry));
      }
      // The library modifies its arguments, so pass a copy. Within a view the reader's zoom is kept.
      const layout = coloured({ ...given, font: type, uirevision: `${word} ${all}`, ...size });
      return Plotly.react(plot, traces, layout, { ...config, displayModeBar: narrow ? false : "hover" }).then(suitTicks);
    }

    // Our ticks fit the whole range; when zoomed in, the library chooses its own.
    function suitTicks() {
      const change = {};
      for (const axis of ["xaxis", "yaxis"]) {
        const { type, range } = given[axis];
        if (type !== "log" || !range) continue;
        const whole = plot.layout[axis].range.every((end, i) => Math.abs(end - range[i]) < 1e-6);
        const mode = whole ? "array" : "auto";
        if ((plot.layout[axis].tickmode ?? "array") !== mode) change[`${axis}.tickmode`] = mode;
      }
      if (Object.keys(change).length > 0) return Plotly.relayout(plot, change);
    }

    function press(buttons, on) {
      for (const button of buttons) button.setAttribute("aria-pressed", String(on));
      draw();
    }

    for (const button of switches) {
      button.addEventListener("click", () => press([button], !isOn(button)));
    }
    for (const group of figure.querySelectorAll(".group-switch")) {
      const members = [...group.parentElement.querySelectorAll(".series-switch")];
      group.addEventListener("click", () => press(members, !members.some(isOn)));
    }
    for (const choice of choices) choice.addEventListener("change", () => draw());

    charts.push(draw);
    // A folded section has no width, so draw its charts when it opens.
    figure.closest("details")?.addEventListener("toggle", () => draw());
    return draw().then(() => plot.on("plotly_relayout", suitTicks));
  }

  const ready = [...document.querySelectorAll("figure.chart")].map(start);
  Promise.all(ready).then(() => document.documentElement.setAttribute("data-charts", "ready"));

  // Printed charts use the width of the sheet; afterwards they use the screen's again.
  const PAPER = 660; // px, the width of a sheet's text
  const root = document.documentElement;
  const folds = () => [...document.querySelectorAll("details.fold, details.evidence")];
  let opened = [];
  window.addEventListener("beforeprint", () => {
    root.setAttribute("data-paper", "");
    opened = folds().filter((fold) => !fold.open);
    for (const fold of opened) fold.open = true;
    for (const draw of charts) draw(PAPER);
  });
  window.addEventListener("afterprint", () => {
    root.removeAttribute("data-paper");
    for (const fold of opened) fold.open = false;
    for (const draw of charts) draw();
  });

  // Light or dark mode has changed.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((draw) => draw()));
})();
