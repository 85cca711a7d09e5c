import { type Address, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createWorkJournal, sql, type WorkJournal } from '@chainstead/db';
import { listAudit } from '@chainstead/http';
import { exampleApi } from '@chainstead/http/testing';
import { createDueWork } from '@chainstead/jobs/worker';
import type { CallBudget } from '@chainstead/sync';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createEnrichMatch } from '../enrichment/enrich-match.ts';
import { exampleStream } from '../matching/testing/example-stream.ts';
import { scanBlock } from '../matching/testing/naive-scan.ts';
import type { WorkBudget } from '../matching/work-budget.ts';
import { listHistoricalJobs } from '../records/historical-jobs.ts';
import { createStreamAddressStore } from '../records/stream-addresses.ts';
import { createStreamStore } from '../records/stream-store.ts';
import { exampleActor } from '../records/testing/example-actor.ts';
import { createStreamRoutes } from '../routes/create-stream-routes.ts';
import { type Client, clientOf, exampleServices, SECOND_KEY } from '../routes/testing/example-stream-api.ts';
import type { Stream } from '../stream.ts';
import {
  FOLLOWED_CONFIRMATIONS,
  type FollowedChain,
  openFollowedChain,
  walletsOf,
} from '../watching/testing/followed-chain.ts';
import { addHistoricalJobs } from './historical-jobs.ts';
import { createPastBlockServices } from './past-block-services.ts';
import type { PastChain } from './past-chain.ts';

const scratch = scratchOfFile();
let nextChain = 950_001;

/** Opens a chain that was followed to its head without streams, then adds a stream. */
async function open(
  blocks: number,
  limits: { jobsPerKey?: number; blocksMax?: number; budget?: WorkBudget } = {},
) {
  const followed = await openFollowedChain(scratch.database, nextChain++);
  onTestFinished(() => followed.close());
  const { chain, pool, scripted } = followed;
  const logger = silentLogger();
  const running = followed.start();
  await followed.caughtUp();
  scripted.mine(blocks);
  await followed.caughtUp();
  await running.stop();
  const config = { ...exampleStream({ includeNativeTxs: true }), chainIds: [chain.id], description: chain.key };
  const stream = await createStreamStore(scratch.database).create(config, exampleActor());
  const wallets = walletsOf(followed, 0, 4);
  await createStreamAddressStore(scratch.database).add(stream.id, wallets, exampleActor());
  const past: PastChain = { chain, pool, policy: 'strict' };
  const enrich = createEnrichMatch({ database: scratch.database, chain, pool, clock: systemClock, logger });
  const services = createPastBlockServices({
    database: scratch.database,
    chains: [{ ...past, enrich }],
    logger,
    ...limits,
  });
  const work = (journal?: WorkJournal, budget?: Pick<CallBudget, 'take' | 'settle'>, partLengthMax?: number) => {
    const { database } = scratch;
    const dueWork = createDueWork({
      database,
      clock: systemClock,
      logger,
      metrics: createMetricsRegistry(),
      ...(journal && { journal }),
    });
    addHistoricalJobs(dueWork, { database, chains: [past], logger, budget, partLengthMax });
    dueWork.start();
    const stop = () => dueWork.close(0);
    onTestFinished(stop);
    return { stop };
  };
  return { ...followed, followed, stream, wallets, services, config, work };
}

function matchingNumbers(
  followed: FollowedChain,
  stream: Stream,
  addresses: readonly Address[],
  from: number,
  to: number,
) {
  const watched = new Set(addresses);
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return numbers.filter((number) => scanBlock(followed.blockAt(number), stream, watched, new Set()) !== null);
}

async function deliveriesOf(stream: Stream): Promise<string[]> {
  const rows = await scratch.database.query<{ line: string }>(
    sql`SELECT concat_ws(' ', block_number, kind, status) AS line FROM stream_deliveries WHERE stream_id = ${stream.id} ORDER BY block_number, kind`,
  );
  return rows.map(({ line }) => line);
}

const jobOf = async (id: string) => {
  const [job] = await scratch.database.query<{ status: string; nextBlock: number; matches: number }>(
    sql`SELECT status, next_block, matches FROM historical_jobs WHERE id = ${id}`,
  );
  return job;
};
const finished = (id: string) =>
  vi.waitFor(async () => expect((await jobOf(id))?.status).toBe('done'), { timeout: 20_000, interval: 10 });

const newestChange = async () => (await listAudit(scratch.database, null, 1))[0];

describe('historical jobs', () => {
  it('deliver what matched in past blocks, also when they are interrupted', async () => {
    const { chain, followed, scripted, services, stream, wallets, work } = await open(90);
    const to = scripted.head - FOLLOWED_CONFIRMATIONS;
    const job = await services.createHistoricalJob({
      stream,
      chain,
      range: { fromBlock: 1, toBlock: to },
      addresses: null,
      by: exampleActor('key'),
    });
    expect(job).toMatchObject({ totalBlocks: to, totalJobs: 1 });
    const id = job?.id ?? '';
    const first = work();
    await vi.waitFor(async () => expect((await jobOf(id))?.nextBlock).toBeGreaterThan(1), { interval: 1 });
    await first.stop();
    work();
    await finished(id);
    const expected = matchingNumbers(followed, stream, wallets, 1, to);
    expect(await deliveriesOf(stream)).toEqual(expected.map((number) => `${number} confirmed pending`));
    expect(await jobOf(id)).toMatchObject({ matches: expected.length, nextBlock: to + 1 });
    expect(expected.length).toBeGreaterThan(10);
  });

  it('take their node calls from the key that requested them, and wait if none are left', async () => {
    const { chain, scripted, services, stream, work } = await open(40);
    const toBlock = scripted.head - FOLLOWED_CONFIRMATIONS;
    const request = { stream, chain, range: { fromBlock: 1, toBlock }, addresses: null, by: exampleActor('key') };
    const id = (await services.createHistoricalJob(request))?.id ?? '';
    const taken: number[] = [];
    work(undefined, {
      async take(key, calls) {
        expect(key).toBe(exampleActor('key').id);
        taken.push(calls);
        return taken.length === 2 ? 20 : 0;
      },
      settle: (_key, calls) => expect(calls).toBe(0),
    });
    await finished(id);
    // The second part was refused once.
    const rest = 2 * (toBlock - 32);
    expect(taken).toEqual([64, rest, rest]);
  });

  it('hold few long blocks at a time: parts end early, and return the node calls of their other blocks', async () => {
    const { chain, followed, scripted, services, stream, wallets, work } = await open(20);
    const toBlock = scripted.head - FOLLOWED_CONFIRMATIONS;
    const request = { stream, chain, range: { fromBlock: 1, toBlock }, addresses: null, by: exampleActor('key') };
    const id = (await services.createHistoricalJob(request))?.id ?? '';
    let parts = 0;
    let made = 0;
    const budget = {
      async take(_key: string, calls: number) {
        parts++;
        made += calls;
        return 0;
      },
      settle(_key: string, calls: number) {
        made += calls;
      },
    };
    // Every block with logs or inputs is too long.
    work(undefined, budget, 0);
    await finished(id);
    const long = matchingNumbers(followed, stream, wallets, 1, toBlock);
    expect(await deliveriesOf(stream)).toEqual(long.map((number) => `${number} confirmed pending`));
    expect(parts).toBeGreaterThan(2);
    expect(made).toBe(2 * toBlock);
  });

  it('wait for blocks that are not confirmed yet, and send again what was sent', async () => {
    const { chain, followed, scripted, services, stream, work } = await open(6);
    const [wallet = '' as Address] = walletsOf(followed, 5, 6);
    const range = { fromBlock: 1, toBlock: scripted.head };
    const job = await services.createHistoricalJob({
      stream,
      chain,
      range,
      addresses: [wallet],
      by: exampleActor('key'),
    });
    work();
    const confirmed = scripted.head - FOLLOWED_CONFIRMATIONS;
    await vi.waitFor(async () => expect((await jobOf(job?.id ?? ''))?.nextBlock).toBe(confirmed + 1), {
      interval: 10,
    });
    const running = followed.start();
    onTestFinished(() => running.stop());
    scripted.mine(FOLLOWED_CONFIRMATIONS);
    await finished(job?.id ?? '');
    const matching = matchingNumbers(followed, stream, [wallet], 1, range.toBlock);
    const own = (await deliveriesOf(stream)).filter((line) => Number(line.split(' ')[0]) <= range.toBlock);
    expect(own).toEqual(matching.map((number) => `${number} confirmed pending`));
    await scratch.database.query(sql`UPDATE stream_deliveries SET status = 'delivered', delivered_at = now()`);
    const again = await services.createHistoricalJob({
      stream,
      chain,
      range,
      addresses: [wallet],
      by: exampleActor('key'),
    });
    await finished(again?.id ?? '');
    const resent = (await deliveriesOf(stream)).filter((line) => Number(line.split(' ')[0]) <= range.toBlock);
    expect(resent).toEqual(own);
  });

  it('fail when they are quarantined', async () => {
    const { chain, services, stream, work } = await open(6);
    const range = { fromBlock: 1, toBlock: 5 };
    const by = exampleActor('key');
    const job = await services.createHistoricalJob({ stream, chain, range, addresses: null, by });
    const { database } = scratch;
    await database.query(
      sql`INSERT INTO quarantined_work (name, crashes) VALUES (${`historical-job ${job?.id}`}, 3)`,
    );
    const journal = createWorkJournal({ database, logger: silentLogger(), metrics: createMetricsRegistry() });
    await journal.start();
    onTestFinished(() => journal.close());
    work(journal);
    await vi.waitFor(async () => expect((await jobOf(job?.id ?? ''))?.status).toBe('failed'), {
      timeout: 20_000,
    });
    const [failed] = await listHistoricalJobs(database, stream.id);
    expect(failed).toMatchObject({ nextBlock: 1, errorMessage: expect.stringContaining('quarantined') });
  });

  it('are as many and as long as allowed, also when many are asked for at once', async () => {
    const { chain, services, stream } = await open(12, { jobsPerKey: 3, blocksMax: 5 });
    const create = (key: string, toBlock = 5) => {
      const range = { fromBlock: 1, toBlock };
      return services.createHistoricalJob({ stream, chain, range, addresses: null, by: exampleActor(key) });
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => create('greedy')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    await expect(create('greedy')).rejects.toMatchObject({ code: 'HISTORICAL_JOBS_LIMITED', status: 429 });
    await expect(create('modest', 6)).rejects.toMatchObject({ code: 'HISTORICAL_RANGE_TOO_LONG', status: 400 });
    expect(await create('modest')).toMatchObject({ totalBlocks: 5 });
    await scratch.database.query(sql`UPDATE historical_jobs SET status = 'done' WHERE requested_by = 'greedy'`);
    expect(await create('greedy')).toMatchObject({ totalBlocks: 5 });
  });

  it('take the blocks between two times', async () => {
    const { chain, followed, services, scripted, stream } = await open(20);
    const time = (number: number) => followed.blockAt(number).header.timestamp;
    const create = (fromTimestamp: number, toTimestamp: number) =>
      services.createHistoricalJob({
        stream,
        chain,
        range: { fromTimestamp, toTimestamp },
        addresses: null,
        by: exampleActor('key'),
      });
    expect(await create(time(5), time(9))).toMatchObject({ totalBlocks: 5 });
    expect(await newestChange()).toMatchObject({
      id: 'key',
      action: 'stream.replay',
      target: stream.id,
      details: { chain: chain.id, from: 5, to: 9 },
    });
    expect(await create(time(5) + 1, time(10) - 1)).toMatchObject({ totalBlocks: 4 });
    expect(await create(time(scripted.head), time(scripted.head) + 999)).toMatchObject({ totalBlocks: 1 });
    const [newest] = await listHistoricalJobs(scratch.database, stream.id);
    const requested = { fromTimestamp: time(scripted.head), toTimestamp: time(scripted.head) + 999 };
    expect(newest).toMatchObject({
      ...requested,
      fromBlock: scripted.head,
      toBlock: scripted.head,
      addresses: null,
    });
    expect(await create(time(scripted.head) + 1, time(scripted.head) + 999)).toBeNull();
  });
});

describe('single past blocks', () => {
  it('are shown as the webhook that a configuration would cause', async () => {
    const { chain, config, followed, services, scripted, stream, wallets } = await open(30);
    const [number = 0] = matchingNumbers(followed, stream, wallets, 1, scripted.head);
    const preview = (blockNumber: number, addresses: readonly Address[]) =>
      services.previewBlock({ chain, blockNumber, config, addresses });
    const { hash, timestamp } = followed.blockAt(number).header;
    expect(await preview(number, wallets)).toMatchObject({
      found: true,
      body: {
        confirmed: true,
        retries: 0,
        streamId: '',
        tag: config.tag,
        block: { number: `${number}`, hash, timestamp: `${timestamp}` },
      },
    });
    expect(await preview(number, [])).toEqual({ found: true, body: null });
    expect(await preview(scripted.head + 1_000, wallets)).toEqual({ found: false });
    expect(await deliveriesOf(stream)).toEqual([]);
  });

  it('are refused if matching them exceeds the work of a key per block', async () => {
    const { chain, config, followed, services, scripted, stream, wallets } = await open(30, {
      budget: { perKey: 20, perBlock: 20 },
    });
    const [blockNumber = 0] = matchingNumbers(followed, stream, wallets, 1, scripted.head);
    const refused = { code: 'STREAM_MATCH_TOO_LONG', status: 400, details: { block: blockNumber } };
    await expect(services.previewBlock({ chain, blockNumber, config, addresses: wallets })).rejects.toMatchObject(
      refused,
    );
    await expect(services.sendBlock({ chain, blockNumber, stream, by: exampleActor() })).rejects.toMatchObject(
      refused,
    );
    expect(await deliveriesOf(stream)).toEqual([]);
  });

  it('count as node calls of the key', async () => {
    const { chain, services, stream } = await open(3);
    const registry = { find: (text: string) => (Number(text) === chain.id ? chain : null) };
    const routes = createStreamRoutes({ ...exampleServices(), ...services, registry, chains: [chain] });
    // Ten calls in ten seconds.
    const app = await exampleApi(scratch.database, routes, {
      ...{ nodeCallsPerSecond: 1, otherKeys: [SECOND_KEY] },
      chains: registry,
    });
    const [own, other] = [clientOf(app), clientOf(app, SECOND_KEY)];
    const at = `/streams/evm/0x${chain.id.toString(16)}`;
    const preview = (client: Client) => client('POST', `${at}/block/2`, { includeNativeTxs: true });
    const statuses = [await preview(own), await preview(own), await preview(own), await preview(own)];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect((await own('POST', `${at}/block-to-webhook/2/${stream.id}`)).status).toBe(429);
    expect((await preview(other)).status).toBe(200);
  });

  it('are sent by a stream as it is now, as often as it is asked for', async () => {
    const { chain, followed, services, scripted, stream, wallets } = await open(30);
    const matching = matchingNumbers(followed, stream, wallets, 1, scripted.head);
    const [old = 0] = matching;
    const send = (blockNumber: number) => services.sendBlock({ chain, blockNumber, stream, by: exampleActor() });
    expect(await send(old)).toBe(true);
    expect(await newestChange()).toMatchObject({
      action: 'stream.replay',
      target: stream.id,
      details: { webhooks: 1, chain: chain.id, block: old },
    });
    expect(await deliveriesOf(stream)).toEqual([`${old} confirmed pending`]);
    await scratch.database.query(
      sql`UPDATE stream_deliveries SET status = 'failed', retries = 8 WHERE stream_id = ${stream.id}`,
    );
    expect(await send(old)).toBe(true);
    expect(await deliveriesOf(stream)).toEqual([`${old} confirmed pending`]);
    const recent = matching.findLast((number) => number > scripted.head - FOLLOWED_CONFIRMATIONS);
    if (recent !== undefined) {
      expect(await send(recent)).toBe(true);
      expect(await deliveriesOf(stream)).toEqual([`${old} confirmed pending`, `${recent} unconfirmed pending`]);
    }
    scripted.mine(1);
    expect(await send(scripted.head)).toBe(false);
    expect(recent).toBeDefined();
  });
});
