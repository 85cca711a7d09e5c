import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock, waitingAtMost } from '@chainstead/core';
import { DatabaseUnavailableError, sql } from '@chainstead/db';
import { answerTo } from '@chainstead/http';
import { createDueWork, type DueWork } from '@chainstead/jobs/worker';
import { RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import { createScratchDatabase, exampleChain, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { StateNotArchivedError, StateUnavailableError } from '../state-error.ts';
import type { StateKind, StateReader } from '../state-kind.ts';
import { type ClockOfWaits, clockOfWaits } from '../testing/clock-of-waits.ts';
import { type AskOptions, createNodeReadQueue, type NodeReadQueue } from './node-read-queue.ts';
import { forgetQuestions, leaveQuestion, questionKey } from './question-rows.ts';
import { addStateReads } from './state-worker.ts';

/** What a dead worker had in hand is waited for. */
const LEASE_MS = 2_000;
const chain: Chain = exampleChain({ id: 1 });
const kind: StateKind<{ text: string }, { text: string; times: number }> = {
  name: 'example',
  question: z.object({ text: z.string() }),
  answer: z.object({ text: z.string(), times: z.int() }),
};
const slow: typeof kind = { ...kind, name: 'slow example', isSlow: true };
/** Those whose texts begin alike fail alike. */
const alike: typeof kind = { ...kind, name: 'alike example', failsAlike: ({ text }) => text.slice(0, 1) };
const fruitless: typeof kind = {
  ...kind,
  name: 'fruitless example',
  isFruitless: ({ text }) => text === 'nothing',
};

describe('node reads', () => {
  let scratch: ScratchDatabase;
  let nodeReads: NodeReadQueue;
  let all: DueWork[] = [];
  let times = 0;
  let clock: ClockOfWaits;
  /** What the reader does before it answers. */
  let before: (text: string, signal: AbortSignal) => Promise<void>;

  beforeAll(async () => {
    scratch = await createScratchDatabase();
  });
  afterAll(() => scratch.drop());
  beforeEach(async () => {
    await scratch.database.query(sql`TRUNCATE state_questions`);
    times = 0;
    clock = clockOfWaits();
    before = async () => {};
    nodeReads = openQuestions();
  });
  afterEach(async () => {
    await Promise.all(all.map((work) => work.close(2_000)));
    all = [];
  });

  function openQuestions(): NodeReadQueue {
    return createNodeReadQueue({ database: scratch.database, chains: [chain], clock, logger: silentLogger() });
  }

  const readerOf = (of: typeof kind): StateReader<{ text: string }, { text: string; times: number }> => ({
    kind: of,
    async read(_context, { text }, signal) {
      times++;
      await before(text, signal);
      return { text, times };
    },
  });

  function startWorker(): DueWork {
    const { database } = scratch;
    const shared = { database, clock: systemClock, logger: silentLogger(), metrics: createMetricsRegistry() };
    const work = createDueWork({ ...shared, leaseMs: LEASE_MS });
    addStateReads(work, {
      ...shared,
      // The readers of this test ask no node.
      chains: [{ chain, pool: {} as UpstreamPool }],
      readers: [readerOf(kind), readerOf(slow), readerOf(fruitless), readerOf(alike)],
    });
    work.start();
    all.push(work);
    return work;
  }

  const requestBy = (
    queue: NodeReadQueue,
    of: typeof kind,
    text: string,
    { waitMs = 10_000, ...options }: AskOptions & { readonly waitMs?: number } = {},
    on = chain,
  ) => waitingAtMost(waitMs, () => queue.request(on, of, { text }, options));
  const ask = (text: string, options?: Parameters<typeof requestBy>[3]) =>
    requestBy(nodeReads, kind, text, options);

  test('a question is answered, each time anew', async () => {
    startWorker();
    expect(await ask('a')).toEqual({ text: 'a', times: 1 });
    expect(await ask('b')).toEqual({ text: 'b', times: 2 });
    expect(await ask('a')).toEqual({ text: 'a', times: 3 });
    expect(await requestBy(nodeReads, slow, 'a')).toEqual({ text: 'a', times: 4 });
  });

  test('those who ask the same meanwhile share the answer, also from other processes', async () => {
    const other = openQuestions();
    const held = Promise.withResolvers<void>();
    before = () => held.promise;
    startWorker();
    const requested = [ask('a'), ask('a'), requestBy(other, kind, 'a'), ask('b')];
    await expect.poll(() => clock.waits).toBe(4);
    held.resolve();
    const [one, ...others] = await Promise.all(requested);
    expect(others.slice(0, 2)).toEqual([one, one]);
    expect(times).toBe(2);
  });

  test('an answer is shared for as long as it is young enough', async () => {
    startWorker();
    await ask('a');
    expect(await ask('a', { maxAgeMs: 60_000 })).toEqual({ text: 'a', times: 1 });
    expect(await ask('a', { waitMs: 0, maxAgeMs: 60_000 })).toEqual({ text: 'a', times: 1 });
    await sleep(20);
    expect(await ask('a', { maxAgeMs: 10 })).toEqual({ text: 'a', times: 2 });
  });

  test('sharing an answer writes nothing', async () => {
    startWorker();
    await ask('a');
    const version = async () =>
      (
        await scratch.database.query<{ version: string }>(
          sql`SELECT xmax::text || ctid::text AS version FROM state_questions`,
        )
      )[0]?.version;
    const written = await version();
    expect(await ask('a', { maxAgeMs: 60_000 })).toEqual({ text: 'a', times: 1 });
    expect(await version()).toBe(written);
  });

  test('a question whose worker died is answered by another one within seconds', async () => {
    const held = Promise.withResolvers<void>();
    before = () => held.promise;
    const dying = startWorker();
    const answer = ask('a', { waitMs: 25_000 });
    await expect.poll(() => times).toBe(1);
    // Its reader hears nothing, as one that is gone.
    await dying.close(0);
    before = async () => {};
    startWorker();
    expect(await answer).toEqual({ text: 'a', times: 2 });
    held.resolve();
  });

  test('who asks again does not take the answer from those who still wait', async () => {
    startWorker();
    const waiting = ask('a');
    const again: Promise<unknown>[] = [];
    for (let requested = 0; requested < 40; requested++) {
      await sleep(5);
      again.push(ask('a'));
    }
    expect((await waiting)?.times).toBeLessThan(20);
    expect(await Promise.all(again)).not.toContain(null);
  });

  test('a late answer is not waited for, and is there later', async () => {
    const held = Promise.withResolvers<void>();
    before = () => held.promise;
    startWorker();
    expect(await ask('a', { waitMs: 100 })).toBeNull();
    const earlier = clock.waits;
    const waiting = ask('a');
    await expect.poll(() => clock.waits).toBe(earlier + 1);
    held.resolve();
    expect(await waiting).toEqual({ text: 'a', times: 1 });
  });

  test('a chain that no worker serves is not asked about', async () => {
    expect(await requestBy(nodeReads, kind, 'a', {}, exampleChain({ id: 5, key: 'other' }))).toBeNull();
    expect(await scratch.database.query(sql`SELECT FROM state_questions`)).toHaveLength(0);
  });

  test('an error is told, and is no answer to the next who asks', async () => {
    before = async () => {
      throw new StateNotArchivedError('Balances at block 7 need an archive node');
    };
    startWorker();
    await expect(ask('a')).rejects.toMatchObject({
      code: 'STATE_NOT_ARCHIVED',
      message: 'Balances at block 7 need an archive node',
    });
    before = async () => {
      throw new RpcCallError({ upstream: 'a', method: 'eth_call', rpcCode: 3, rpcMessage: 'something secret' });
    };
    const failure = { code: 'STATE_UNAVAILABLE', status: 503, headers: { 'retry-after': '1' } };
    await expect(ask('a', { maxAgeMs: 60_000 })).rejects.toMatchObject({
      ...failure,
      message: 'The nodes of Ethereum returned no response: retry in a moment',
    });
    before = async () => {};
    expect(await ask('a', { maxAgeMs: 60_000 })).toMatchObject({ text: 'a' });
  });

  test.each([
    [
      'a statement that Postgres refuses',
      () => scratch.database.query(sql`SELECT ${'one'}::integer`),
      500,
      'Internal error',
    ],
    ['a fault of this program', () => Promise.reject(new TypeError('something secret')), 500, 'Internal error'],
    [
      'a request whose own time was over',
      () => Promise.reject(new DOMException('something secret', 'TimeoutError')),
      503,
      'The state read on Ethereum timed out: retry in a moment',
    ],
    [
      'a statement that takes too long',
      () => Promise.reject(Object.assign(new Error('canceling statement'), { code: '57014' })),
      503,
      'The state read on Ethereum timed out: retry in a moment',
    ],
    [
      'a database that is away',
      () => Promise.reject(new DatabaseUnavailableError("can't be reached", null, new Error('something secret'))),
      503,
      'The database is unavailable: try again later',
    ],
  ])('%s is not taken for a fault of a node', async (_about, fail, status, message) => {
    before = async () => {
      await fail();
    };
    startWorker();
    const error: unknown = await ask('a').catch((thrown: unknown) => thrown);
    expect(answerTo(error)).toMatchObject({ status, message });
  });

  describe('what came to no purpose', () => {
    const patient = { fruitlessMs: 60_000 };
    /** As if that much time had gone by. */
    const later = (seconds: number) =>
      scratch.database.query(
        sql`UPDATE state_questions SET asked_at = asked_at - make_interval(secs => ${seconds}), settled_at = settled_at - make_interval(secs => ${seconds})`,
      );

    test('as an error is shared for a time, in all processes', async () => {
      before = async () => {
        throw new StateNotArchivedError('Not kept');
      };
      startWorker();
      await expect(ask('a', patient)).rejects.toMatchObject({ code: 'STATE_NOT_ARCHIVED', message: 'Not kept' });
      const other = openQuestions();
      await expect(requestBy(other, kind, 'a', patient)).rejects.toMatchObject({
        message: 'Not kept',
      });
      expect(times).toBe(1);
      await expect(ask('b', patient)).rejects.toThrow();
      expect(times).toBe(2);
      before = async () => {};
      await later(61);
      expect(await ask('a', patient)).toEqual({ text: 'a', times: 3 });
    });

    test('as an answer that leaves as much to ask is shared for a time, any other is not', async () => {
      startWorker();
      const requestFor = (text: string) => requestBy(nodeReads, fruitless, text, patient);
      expect(await requestFor('nothing')).toEqual({ text: 'nothing', times: 1 });
      expect(await requestFor('nothing')).toEqual({ text: 'nothing', times: 1 });
      expect(await requestFor('something')).toEqual({ text: 'something', times: 2 });
      expect(await requestFor('something')).toEqual({ text: 'something', times: 3 });
      await later(61);
      expect(await requestFor('nothing')).toEqual({ text: 'nothing', times: 4 });
    });

    test('as a question that nobody answered in time is not waited for again, in any process, until it is answered', async () => {
      let release = (): void => {};
      before = () => new Promise((resolve) => (release = resolve));
      const impatient = { waitMs: 2_000, fruitlessMs: 60_000 };
      const other = openQuestions();
      startWorker();
      const started = performance.now();
      expect(await ask('a', impatient)).toBeNull();
      expect(performance.now() - started).toBeGreaterThan(1_900);
      const { waits } = clock;
      expect(waits).toBe(1);
      expect(await ask('a', impatient)).toBeNull();
      expect(await requestBy(other, kind, 'a', impatient)).toBeNull();
      expect(clock.waits).toBe(waits);
      expect(times).toBe(1);
      release();
      await expect.poll(() => ask('a', { waitMs: 0, maxAgeMs: 60_000 })).toEqual({ text: 'a', times: 1 });
    });

    test('as a question that nobody answers has others that fail alike not waited for, until it is answered', async () => {
      const hanging = Promise.withResolvers<void>();
      before = async (text) => (text.startsWith('a') ? hanging.promise : undefined);
      startWorker();
      const requestFor = (text: string, waitMs: number) =>
        requestBy(nodeReads, alike, text, { waitMs, fruitlessMs: 60_000 });
      expect(await requestFor('a1', 200)).toBeNull();
      // These requests wait until the end: no response comes before it.
      expect(await Promise.all([requestFor('a2', 600_000), requestFor('a3', 600_000)])).toEqual([null, null]);
      expect(await requestFor('b1', 10_000)).toMatchObject({ text: 'b1' });
      hanging.resolve();
      const isAnswered = async () =>
        (await requestBy(nodeReads, alike, 'a1', { waitMs: 0, maxAgeMs: 60_000 })) !== null;
      await expect.poll(isAnswered).toBe(true);
      expect(await requestFor('a4', 10_000)).toMatchObject({ text: 'a4' });
    });

    test('as a question that failed has others that fail alike not waited for, for a time', async () => {
      before = async () => {
        throw new StateNotArchivedError('Not kept');
      };
      startWorker();
      const requestFor = (text: string) => requestBy(nodeReads, alike, text, patient);
      await expect(requestFor('a1')).rejects.toThrow('Not kept');
      before = async () => {};
      expect(await requestFor('a2')).toBeNull();
      await scratch.database.query(sql`TRUNCATE state_questions`);
      expect(await requestFor('a2')).toMatchObject({ text: 'a2' });
    });
  });

  test('what may pass is tried again, some times', async () => {
    before = async () => {
      if (times < 3) throw new StateUnavailableError('Not yet');
    };
    startWorker();
    expect(await ask('a')).toEqual({ text: 'a', times: 3 });
    times = -10;
    await expect(ask('a')).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE', message: 'Not yet' });
    expect(times).toBe(-7);
  });

  test('a question whose notification was lost is answered once', async () => {
    const row = { key: questionKey(kind, { text: 'a' }), kind: kind.name, question: { text: 'a' } };
    await leaveQuestion(scratch.database, chain.id, row, 0);
    startWorker();
    expect(await ask('a', { maxAgeMs: 60_000 })).toEqual({ text: 'a', times: 1 });
  });

  test('a worker that ends leaves its reads to the next', async () => {
    before = (_text, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const first = startWorker();
    const waiting = ask('a', { waitMs: 20_000 });
    await expect.poll(() => times).toBe(1);
    await first.close(50);
    before = async () => {};
    startWorker();
    expect(await waiting).toEqual({ text: 'a', times: 2 });
  });

  test('old reads are deleted, answered or not', async () => {
    startWorker();
    await ask('a');
    await ask('b');
    await scratch.database.query(
      sql`UPDATE state_questions SET asked_at = now() - interval '11 minutes' WHERE question ->> 'text' = 'a'`,
    );
    await forgetQuestions(scratch.database, chain.id);
    expect(await scratch.database.query(sql`SELECT question FROM state_questions`)).toEqual([
      { question: { text: 'b' } },
    ]);
  });
});
