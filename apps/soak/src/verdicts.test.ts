import { describe, expect, it } from 'vitest';
import type { Sample } from './sample.ts';
import type { TableLook } from './table-probe.ts';
import { latencyVerdicts, memoryVerdicts, noneOf, TREND_SECONDS_MIN, tableVerdicts } from './verdicts.ts';

const MEGABYTE = 1_048_576;
const COUNT = 40;

const TABLE: TableLook = {
  name: 'counters',
  live: 100_000,
  dead: 5_000,
  tableBytes: 20 * MEGABYTE,
  indexBytes: 10 * MEGABYTE,
  inserted: 0,
  updated: 0,
  hotUpdated: 0,
  deleted: 0,
  vacuums: 0,
  analyzes: 0,
};

interface Given {
  readonly rss?: number;
  readonly table?: Partial<TableLook>;
  readonly pageMs?: number;
  readonly stolen?: number | null;
}

function samplesOf(given: (index: number) => Given, seconds = TREND_SECONDS_MIN): Sample[] {
  return Array.from({ length: COUNT }, (_, index) => {
    const { rss = 100, table = {}, pageMs = 50, stolen = 0 } = given(index);
    return {
      seconds: ((index + 1) * seconds) / COUNT,
      stretchSeconds: seconds / COUNT,
      checkpoint: index,
      lagsMs: [10],
      world: {
        ...{ mined: 1, transfers: 1, reorgs: 0, skipped: 0, webhooks: 1, delaysMs: [10], repeated: 0 },
        ...{ twice: 0, unasked: 0, orphaned: 0, badSignatures: 0 },
      },
      late: { unconfirmed: 0, confirmed: 0 },
      pages: { latenciesMs: [1, 2, pageMs], failures: {} },
      memory: new Map([['api', { rss: rss * MEGABYTE, heap: null }]]),
      tables: [{ ...TABLE, ...table }],
      load: 1,
      stolen,
      complaints: {},
    };
  });
}

const failedOf = (verdicts: readonly { name: string; passed: boolean | null }[]): string[] =>
  verdicts.filter(({ passed }) => passed === false).map(({ name }) => name);

describe('memory', () => {
  it('is flat where it goes up and down, also after it rose at the beginning', () => {
    const saw = samplesOf((index) => ({ rss: (index < 6 ? 60 : 100) + (index % 4) * 3 }));
    expect(failedOf(memoryVerdicts(saw))).toEqual([]);
  });

  it('is flat where its teeth are long and uneven', () => {
    const saw = samplesOf((index) => ({
      rss: 300 - (index % 7 === index % 5 ? 100 : 0) - (index < 20 ? 40 : 0) * (index % 2),
    }));
    expect(failedOf(memoryVerdicts(saw))).toEqual([]);
  });

  it('is not flat where it leaks slowly', () => {
    expect(failedOf(memoryVerdicts(samplesOf((index) => ({ rss: 100 + index * 0.5 }))))).toEqual(['memory of api']);
  });

  it('is not flat where it rose once and stays up', () => {
    expect(failedOf(memoryVerdicts(samplesOf((index) => ({ rss: index < 16 ? 100 : 115 }))))).toEqual([
      'memory of api',
    ]);
  });

  it('is not judged in a short soak', () => {
    const short = samplesOf((index) => ({ rss: 100 + index * 5 }), 60);
    expect(memoryVerdicts(short).map(({ passed }) => passed)).toEqual([null]);
  });
});

describe('tables', () => {
  it('may grow with their rows', () => {
    const growing = samplesOf((index) => ({
      table: { live: 100_000 * (index + 1), dead: 1_000, tableBytes: 20 * MEGABYTE * (index + 1), indexBytes: 0 },
    }));
    expect(failedOf(tableVerdicts(growing, () => 'append'))).toEqual([]);
  });

  it('must not grow without them', () => {
    const bloating = samplesOf((index) => ({ table: { tableBytes: (20 + index) * MEGABYTE } }));
    expect(failedOf(tableVerdicts(bloating, () => 'append'))).toEqual(['bytes a row of counters']);
  });

  it('must not be full of dead rows where rows change, and may where they are only added', () => {
    const dead = samplesOf(() => ({ table: { dead: 60_000 } }));
    expect(failedOf(tableVerdicts(dead, () => 'counter'))).toEqual(['dead rows of counters']);
    expect(failedOf(tableVerdicts(dead, () => undefined))).toEqual(['dead rows of counters']);
    expect(failedOf(tableVerdicts(dead, () => 'append'))).toEqual([]);
  });

  it('are not judged while they are small', () => {
    const small = samplesOf((index) => ({ table: { dead: 900_000, tableBytes: index * 1_000, indexBytes: 0 } }));
    expect(tableVerdicts(small, () => 'queue')).toEqual([]);
  });
});

describe('latencies', () => {
  it('are flat where the slowest pages are as slow as before', () => {
    expect(failedOf(latencyVerdicts(samplesOf((index) => ({ pageMs: 50 + (index % 2) * 10 }))))).toEqual([]);
  });

  it('are not where the slowest become slower', () => {
    expect(failedOf(latencyVerdicts(samplesOf((index) => ({ pageMs: 30 + index }))))).toEqual(['p99 of pages']);
  });

  it('say nothing below what a person notices', () => {
    expect(failedOf(latencyVerdicts(samplesOf((index) => ({ pageMs: 1 + index / 2 }))))).toEqual([]);
  });

  it('are judged by the stretches in which the machine had its processors, and the stretch before too', () => {
    // Every fourth stretch is disturbed, and what is left undone in it comes late in the next.
    const disturbed = (after: number) =>
      samplesOf((index) => {
        const isLate = index >= 20;
        return { stolen: index % 4 === 0 ? 0.2 : 0.01, pageMs: index % 4 < 2 && isLate ? 900 : isLate ? after : 50 };
      });
    expect(failedOf(latencyVerdicts(disturbed(60)))).toEqual([]);
    expect(latencyVerdicts(disturbed(60))[0]?.measured).toContain('4 of 8 and 4 of 8 stretches');
    expect(failedOf(latencyVerdicts(disturbed(90)))).toEqual(['p99 of pages']);
  });

  it('are not judged where the host took too much away, and say so', () => {
    const [pages] = latencyVerdicts(samplesOf((index) => ({ stolen: index < 20 ? 0.02 : 0.3, pageMs: 50 + index })));
    expect(pages?.passed).toBeNull();
    expect(pages?.measured).toContain("the machine's host took away too much of its processors: 65 → 89 ms");
    expect(pages?.measured).toContain("the machine's load 1.0 → 1.0, stolen 2 % → 30 %");
  });

  it('are judged where the machine does not tell what was taken away', () => {
    const untold = latencyVerdicts(samplesOf((index) => ({ stolen: null, pageMs: 30 + index })));
    expect(failedOf(untold)).toEqual(['p99 of pages']);
    expect(untold[0]?.measured).toContain('stolen ? → ?');
  });

  it('fail where nothing came', () => {
    const silent = samplesOf(() => ({})).map((sample) => ({ ...sample, lagsMs: [] }));
    expect(failedOf(latencyVerdicts(silent))).toEqual(['p99 of the lag behind the head']);
  });
});

describe('counts', () => {
  it('pass at zero alone, and show examples', () => {
    expect(noneOf('lost', 0)).toEqual({ name: 'lost', passed: true, measured: '0' });
    expect(noneOf('lost', 2, ['a', 'b'])).toEqual({ name: 'lost', passed: false, measured: '2; a; b' });
  });
});
