// Draws time series. The address in [data-plot] returns { labels, unit, range, times, values }, and optionally the minimum height of the plot (top),
// whether each value has a point (points), and whether the values are those of candles (candles.js). The table next to it has the same numbers.
(() => {
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const COLOURS = ['--line-1', '--line-2', '--line-3', '--line-4', '--line-5', '--line-6'];
  const HEIGHT = 220;
  const HEADROOM = 1.1;
  /** A time in any language. Pixels. */
  const LABEL_SPACE = 80;
  /** Prices in ether are small, and those of some tokens far smaller. */
  const FRACTION_DIGITS = 6;
  const SIGNIFICANT_DIGITS = 4;
  /** Of the library, which pages without a plot do not need. */
  const LIBRARY = document.currentScript.dataset.plots;

  /** What is inside its padding: a plot that is wider has the page scroll sideways. */
  function widthOf(element) {
    const { paddingLeft, paddingRight } = getComputedStyle(element);
    return element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
  }

  function load() {
    return new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = LIBRARY;
      script.onload = resolve;
      script.onerror = () => reject(new Error('its script failed to load'));
      document.head.append(script);
    });
  }

  async function draw(element, loaded) {
    const asked = fetch(element.dataset.plot, { headers: { accept: 'application/json' } });
    const [answer] = await Promise.all([asked, loaded]);
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    const plotted = await answer.json();
    const { labels, unit, range, times, values, top = 1, points = false, candles = false } = plotted;
    if (times.length === 0) {
      element.textContent = 'No data yet.';
      element.className = 'soft';
      return;
    }
    const numbers = new Intl.NumberFormat(undefined, {
      maximumFractionDigits: FRACTION_DIGITS,
      maximumSignificantDigits: SIGNIFICANT_DIGITS,
      roundingPriority: 'morePrecision',
    });
    const clock = plotClock(times);
    const axis = { stroke: css('--soft'), grid: { stroke: css('--edge') }, ticks: { stroke: css('--edge') } };
    const series = labels.map((label, index) => ({
      label,
      stroke: css(COLOURS[index % COLOURS.length]),
      width: 1.5,
      points: points ? { show: true, size: 5 } : {},
      value: (_plot, value) => (value === null ? '–' : `${numbers.format(value)} ${unit}`),
    }));
    const options = {
      width: widthOf(element),
      height: HEIGHT,
      tzDate: clock.tzDate,
      series: [{ value: (_plot, at) => (at === null ? '–' : clock.whole(at)) }, ...series],
      // From the first to the last requested time, and from zero to slightly above the maximum.
      scales: { x: { range }, y: { range: (_plot, _least, most) => [0, Math.max(top, most * HEADROOM) || 1] } },
      axes: [
        { ...axis, space: LABEL_SPACE, values: clock.ticks },
        { ...axis, size: 70, values: (_plot, ticks) => ticks.map((tick) => numbers.format(tick)) },
      ],
    };
    if (candles) {
      asCandles(options, css);
      element.after(candleTable(plotted, clock.whole));
    }
    element.textContent = '';
    const plot = new uPlot(options, [times, ...values], element);
    new ResizeObserver(() => plot.setSize({ width: widthOf(element), height: HEIGHT })).observe(element);
  }

  const elements = document.querySelectorAll('[data-plot]');
  if (elements.length === 0) return;
  const loaded = load();
  for (const element of elements)
    draw(element, loaded).catch((error) => {
      element.textContent = `The plot could not be loaded: ${error.message}`;
    });
})();
