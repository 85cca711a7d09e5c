import { describe, expect, it } from 'vitest';
import { judgeTrends, memoryInMetrics, type Sample, type TableSize } from './trends.ts';

const MEGABYTE = 1_048_576;
const COUNT = 40;

interface Given {
  /** Megabytes. */
  readonly memory?: number;
  readonly table?: Partial<TableSize>;
}

function samplesOf(given: (index: number) => Given, seconds = 900): Sample[] {
  return Array.from({ length: COUNT }, (_, index) => {
    const { memory = 100, table = {} } = given(index);
    return {
      seconds: ((index + 1) * seconds) / COUNT,
      memory: new Map([['api', memory * MEGABYTE]]),
      tables: [{ name: 'api_usage', live: 100_000, dead: 5_000, bytes: 30 * MEGABYTE, ...table }],
    };
  });
}

function failedOf(samples: readonly Sample[]): readonly (string | undefined)[] {
  return judgeTrends(samples).flatMap(({ text, passed }) => (passed === false ? [text.split(':')[0]] : []));
}

it('reads the memory of each role', () => {
  const lines = ['process_resident_memory_bytes{role="api"} 300', 'nodejs_heap_size_used_bytes{role="api"} 100'];
  expect([...memoryInMetrics(lines.join('\n'))]).toEqual([['api', 300]]);
});

describe('memory', () => {
  it.each<[string, (index: number) => number]>([
    ['goes up and down, after a rise at the beginning', (index) => (index < 6 ? 60 : 100) + (index % 4) * 3],
    ['is taken away by the machine for a while', (index) => (index > 12 && index < 20 ? 60 : 100)],
    [
      'has long and uneven teeth',
      (index) => 300 - (index % 7 === index % 5 ? 100 : 0) - (index < 20 ? 40 : 0) * (index % 2),
    ],
  ])('is flat if it %s', (_, memory) => {
    expect(failedOf(samplesOf((index) => ({ memory: memory(index) })))).toEqual([]);
  });

  it.each<[string, (index: number) => number]>([
    ['leaks slowly', (index) => 100 + index * 0.5],
    ['rises once and stays up', (index) => (index < 16 ? 100 : 115)],
  ])('is not flat if it %s', (_, memory) => {
    expect(failedOf(samplesOf((index) => ({ memory: memory(index) })))).toEqual(['memory of api']);
  });

  it('is not judged in a short soak', () => {
    const short = samplesOf((index) => ({ memory: 100 + index * 5 }), 60);
    expect(judgeTrends(short).map(({ passed }) => passed)).toEqual([null]);
  });
});

describe('tables', () => {
  it('may grow with their rows', () => {
    const growing = (index: number) => ({
      table: { live: 100_000 * (index + 1), bytes: 20 * MEGABYTE * (index + 1) },
    });
    expect(failedOf(samplesOf(growing))).toEqual([]);
  });

  it('must not grow without them', () => {
    const bloating = samplesOf((index) => ({ table: { bytes: (20 + index) * MEGABYTE } }));
    expect(failedOf(bloating)).toEqual(['bytes per row of api_usage']);
  });

  it('must not be full of dead rows, unless rows are only added', () => {
    expect(failedOf(samplesOf(() => ({ table: { dead: 60_000 } })))).toEqual(['dead rows of api_usage']);
    expect(failedOf(samplesOf(() => ({ table: { dead: 60_000, name: 'erc20_transfer_sides' } })))).toEqual([]);
  });

  it('are not judged while they are small', () => {
    expect(failedOf(samplesOf((index) => ({ table: { dead: 900_000, bytes: index * 1_000 } })))).toEqual([]);
  });
});
