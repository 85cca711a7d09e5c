// Has plots.js draw candles: values are those of open, high, low, close and volume. The volume is below them, on another scale.
(() => {
  /** Of the height, for the volume. */
  const VOLUME_SHARE = 1 / 4;
  const BODY_SHARE = 0.6;
  const MARGIN = 0.08;

  function drawCandles(plot, css) {
    const { ctx } = plot;
    const [times, opens, highs, lows, closes] = plot.data;
    const gaps = times.slice(1).map((time, index) => time - times[index]);
    const step = gaps.length === 0 ? 3_600 : Math.min(...gaps);
    const x = (time) => plot.valToPos(time, 'x', true);
    const y = (value) => plot.valToPos(value, 'y', true);
    const width = Math.max(2, Math.min(14, (x(times[0] + step) - x(times[0])) * BODY_SHARE));
    ctx.save();
    for (const [index, time] of times.entries()) {
      const [open, close] = [opens[index], closes[index]];
      ctx.fillStyle = css(close >= open ? '--good' : '--bad');
      ctx.fillRect(x(time) - 0.5, y(highs[index]), 1, y(lows[index]) - y(highs[index]));
      ctx.fillRect(
        x(time) - width / 2,
        y(Math.max(open, close)),
        width,
        Math.max(1, Math.abs(y(open) - y(close))),
      );
    }
    ctx.restore();
  }

  /** The same numbers, for readers who see no plot. */
  function tableOf({ labels, times, values }, whole) {
    const details = document.createElement('details');
    details.append(Object.assign(document.createElement('summary'), { textContent: 'Numbers' }));
    const table = document.createElement('table');
    const line = (name, texts) => {
      const row = table.insertRow();
      for (const text of texts) row.append(Object.assign(document.createElement(name), { textContent: text }));
    };
    line('th', ['time', ...labels]);
    for (const [index, time] of times.entries())
      line('td', [whole(time), ...values.map((of) => of[index] ?? '–')]);
    details.append(table);
    return details;
  }

  window.candleTable = tableOf;
  window.asCandles = (options, css) => {
    const [time, ...prices] = options.series;
    const volume = prices.pop();
    for (const one of prices)
      Object.assign(one, { paths: () => null, points: { show: false }, stroke: css('--soft') });
    const bars = {
      scale: 'volume',
      paths: uPlot.paths.bars({ size: [BODY_SHARE, 14] }),
      points: { show: false },
    };
    options.series = [time, ...prices, { ...volume, ...bars, stroke: css('--missing'), fill: css('--missing') }];
    const spread = (least, most) => (most - least || most || 1) * MARGIN;
    options.scales.y = {
      range: (_plot, least, most) => [
        least - spread(least, most) - (most - least) * VOLUME_SHARE,
        most + spread(least, most),
      ],
    };
    options.scales.volume = { range: (_plot, _least, most) => [0, (most || 1) / VOLUME_SHARE] };
    options.hooks = { draw: [(plot) => drawCandles(plot, css)] };
  };
})();
