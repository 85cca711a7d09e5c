// How plots.js writes times: as the reader's language does. Sums of days are those of UTC, and so are their labels; other times are the reader's.
(() => {
  const DAY = 86_400;
  const MONTH = 28 * DAY;

  /** Labels of an axis, each minute once, with a date only where another one begins. */
  function ticksBy(format) {
    const month = format({ month: 'short', year: 'numeric' });
    const date = format({ month: 'short', day: 'numeric' });
    const minute = format({ timeStyle: 'short' });
    return (_plot, ticks, _axis, _space, step) => {
      if (step >= DAY) return ticks.map(step >= MONTH ? month : date);
      const [dates, minutes] = [ticks.map(date), ticks.map(minute)];
      return minutes.map((text, index) => {
        if (dates[index] !== dates[index - 1]) return `${text}\n${dates[index]}`;
        return text === minutes[index - 1] ? '' : text;
      });
    };
  }

  window.plotClock = (times) => {
    const isByDay = times.every((at) => at % DAY === 0);
    const zone = isByDay ? { timeZone: 'UTC' } : {};
    const format = (how) => {
      const written = new Intl.DateTimeFormat(undefined, { ...how, ...zone });
      return (at) => written.format(at * 1_000);
    };
    return {
      tzDate: (at) => (isByDay ? uPlot.tzDate(new Date(at * 1_000), 'Etc/UTC') : new Date(at * 1_000)),
      whole: format(isByDay ? { dateStyle: 'medium' } : { dateStyle: 'medium', timeStyle: 'short' }),
      ticks: ticksBy(format),
    };
  };
})();
