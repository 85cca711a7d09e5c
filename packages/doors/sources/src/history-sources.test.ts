import { type BlockRange, createLogger, type Logger, silentLogger } from '@chainstead/core';
import { expect, it } from 'vitest';
import type { BlockSource } from './block-source.ts';
import { createHistorySources } from './history-sources.ts';
import { SourceError, type SourceFault } from './source-error.ts';

const never = new AbortController().signal;

const sourceOf = (name: string, ...available: readonly BlockRange[]): BlockSource => ({
  name,
  available: async () => available,
  readBlocks: () => Array.fromAsync([]) as never,
  readLogs: () => Array.fromAsync([]) as never,
  close: async () => undefined,
});

function open(...sources: readonly BlockSource[]) {
  return openLogged(silentLogger(), ...sources);
}

function openLogged(logger: Logger, ...sources: readonly BlockSource[]) {
  const time = { now: 1_000_000 };
  const clock = { now: () => time.now, sleep: async () => undefined };
  return {
    time,
    sources: createHistorySources({ chain: { key: 'eth' }, sources, clock, logger }),
  };
}

const faultOf = (fault: SourceFault, retryAfterMs: number | null = null) =>
  new SourceError({ source: 'a', fault, what: 'failed', retryAfterMs });

it('the preferred source that has the first block is read, up to its last block', async () => {
  const old = sourceOf('era', { from: 0, to: 99 }, { from: 200, to: 299 });
  const { sources } = open(old, sourceOf('portal', { from: 50, to: 1_000 }));
  const nameAt = async (from: number, to: number) => {
    const chosen = await sources.choose('blocks', { from, to }, never);
    return chosen === null ? null : [chosen.source.name, chosen.range.from, chosen.range.to];
  };
  expect(await nameAt(60, 150)).toEqual(['era', 60, 99]);
  expect(await nameAt(100, 150)).toEqual(['portal', 100, 150]);
  expect(await nameAt(900, 2_000)).toEqual(['portal', 900, 1_000]);
  expect(await nameAt(1_001, 2_000)).toBeNull();
  expect(sources.reach('blocks', { from: 0, to: 5_000 }, 'newest-first')).toEqual({ from: 50, to: 1_000 });
  expect(sources.reach('blocks', { from: 0, to: 5_000 }, 'oldest-first')).toEqual({ from: 0, to: 99 });
  expect(sources.reach('logs', { from: 2_000, to: 5_000 }, 'oldest-first')).toBeNull();
});

it.each([
  ['unavailable', null, [5, 10, 20]],
  ['lacking', null, [5, 10, 20]],
  ['wrong', null, [60, 120, 240]],
  ['busy', 30_000, [30, 30, 30]],
] as const)('after the fault %s it is left alone for a growing time', async (fault, retryAfter, seconds) => {
  const { time, sources } = open(sourceOf('a', { from: 0, to: 9 }));
  for (const expected of seconds) {
    const chosen = await sources.choose('logs', { from: 0, to: 9 }, never);
    chosen?.failed(faultOf(fault, retryAfter), { from: 0, to: 9 });
    // Another stream that fails at the same time does not count.
    chosen?.failed(faultOf(fault, retryAfter), { from: 0, to: 9 });
    expect(sources.statuses()[0]?.uses.logs.until).toBe(time.now + expected * 1_000);
    expect(await sources.choose('logs', { from: 0, to: 9 }, never)).toBeNull();
    expect(await sources.choose('blocks', { from: 0, to: 9 }, never)).not.toBeNull();
    time.now += expected * 1_000;
  }
});

it('a failure of nodes pauses it for a moment, and does not count', async () => {
  const { time, sources } = open(sourceOf('a', { from: 0, to: 9 }));
  for (let round = 0; round < 3; round++) {
    const chosen = await sources.choose('blocks', { from: 0, to: 9 }, never);
    chosen?.failed(new Error('All nodes returned HTTP 429'), { from: 0, to: 9 });
    const { uses } = sources.statuses()[0] ?? {};
    expect(uses?.blocks).toMatchObject({ failures: 0, until: time.now + 5_000 });
    time.now += 5_000;
  }
});

it('blocks stay planned for a source that could not name them once', async () => {
  let isDown = false;
  const flaky: BlockSource = {
    ...sourceOf('a'),
    available: async () => {
      if (isDown) throw faultOf('unavailable');
      return [{ from: 0, to: 9 }];
    },
  };
  const { time, sources } = open(flaky);
  const choose = () => sources.choose('logs', { from: 0, to: 9 }, never);
  expect(await choose()).not.toBeNull();
  isDown = true;
  time.now += 30_000;
  expect(await choose()).toBeNull();
  time.now += 5_000;
  expect(sources.reach('logs', { from: 0, to: 9 }, 'oldest-first')).toEqual({ from: 0, to: 9 });
});

it('a part that was read does not shorten the next pause, a complete stream does', async () => {
  const { time, sources } = open(sourceOf('a', { from: 0, to: 9 }));
  const choose = () => sources.choose('blocks', { from: 0, to: 9 }, never);
  (await choose())?.failed(faultOf('wrong'), { from: 0, to: 9 });
  time.now += 60_000;
  const second = await choose();
  second?.succeeded({ from: 0, to: 4 });
  second?.failed(faultOf('wrong'), { from: 5, to: 9 });
  expect(sources.statuses()[0]?.uses.blocks).toMatchObject({ blocks: 5, failures: 2, until: time.now + 120_000 });
  time.now += 120_000;
  (await choose())?.completed();
  expect(sources.statuses()[0]?.uses.blocks).toMatchObject({ failures: 0, reason: null, until: null });
});

it('is left alone longer each time its stored logs were wrong, although its streams end well', async () => {
  const { time, sources } = open(sourceOf('a', { from: 0, to: 9 }));
  const at = { from: 3, to: 3 };
  for (const seconds of [60, 120, 240]) {
    (await sources.choose('logs', { from: 0, to: 9 }, never))?.completed();
    expect(sources.blame('a', 'it lied', at)).toBe(true);
    // Another block of the same stream.
    expect(sources.blame('a', 'it lied', at)).toBe(true);
    expect(sources.statuses()[0]?.uses.logs.until).toBe(time.now + seconds * 1_000);
    expect(await sources.choose('blocks', { from: 0, to: 9 }, never)).not.toBeNull();
    time.now += seconds * 1_000;
  }
  expect(sources.blame('a node', 'it lied', at)).toBe(false);
});

it('a field that a source lacks is logged once, each other failure every time', async () => {
  const reasons: string[] = [];
  const logger = createLogger({
    level: 'warn',
    destination: { write: (line) => void reasons.push(JSON.parse(line).reason) },
  });
  const { time, sources } = openLogged(logger, sourceOf('a', { from: 0, to: 9 }));
  for (const [fault, what] of [
    ['lacking', 'lacks r of transaction 3 of block 7'],
    ['lacking', 'lacks r of transaction 0 of block 1045'],
    ['lacking', 'lacks requestsHash of block 8'],
    ['unavailable', 'HTTP 500'],
    ['unavailable', 'HTTP 500'],
  ] as const) {
    const chosen = await sources.choose('blocks', { from: 0, to: 9 }, never);
    chosen?.failed(new SourceError({ source: 'a', fault, what }), { from: 0, to: 9 });
    time.now += 3_600_000;
  }
  expect(reasons.map((reason) => /failed: (.*?)\. /.exec(reason)?.[1])).toEqual([
    'lacks r of transaction 3 of block 7',
    'lacks requestsHash of block 8',
    'HTTP 500',
    'HTTP 500',
  ]);
});

it('a folder whose files changed is read again at once', async () => {
  let revision = 1;
  const folder: BlockSource = { ...sourceOf('era', { from: 0, to: 9 }), revision: () => revision };
  const { time, sources } = open(folder);
  const choose = () => sources.choose('logs', { from: 0, to: 9 }, never);
  (await choose())?.failed(faultOf('wrong'), { from: 0, to: 9 });
  time.now += 5_000;
  expect(await choose()).toBeNull();
  revision += 1;
  time.now += 5_000;
  expect(await choose()).not.toBeNull();
});

it('a file that does not hold is listed, and its folder goes on', async () => {
  const reason = 'a.ere: it is cut';
  const folder = { ...sourceOf('era', { from: 0, to: 9 }), refusals: () => [{ file: 'a.ere', reason }] };
  const { sources } = open(folder);
  const chosen = await sources.choose('blocks', { from: 0, to: 9 }, never);
  chosen?.failed(new SourceError({ source: 'era', fault: 'wrong', what: reason, file: 'a.ere' }), {
    ...{ from: 0, to: 9 },
  });
  expect(sources.statuses()).toMatchObject([
    { refusals: [{ file: 'a.ere', reason }], uses: { blocks: { failures: 0, until: null } } },
  ]);
});
