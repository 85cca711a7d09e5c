/** Streams that name a contract, on a chain that the engine follows: new blocks, a reorg, a preview and a replay. */

import { addContract } from '@chainstead/contracts';
import { createMetricsRegistry, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { TRANSFER_TOPIC } from '@chainstead/events/token-events';
import { createDueWork } from '@chainstead/jobs/worker';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createEnrichMatch } from '../enrichment/enrich-match.ts';
import { addHistoricalJobs } from '../historical/historical-jobs.ts';
import { createPastBlockServices } from '../historical/past-block-services.ts';
import { ERC20_TRANSFER, exampleStream } from '../matching/testing/example-stream.ts';
import { createStreamStore } from '../records/stream-store.ts';
import { exampleActor } from '../records/testing/example-actor.ts';
import { openFollowedChain } from '../watching/testing/followed-chain.ts';

const scratch = scratchOfFile();
let nextChain = 970_001;

/** A chain with many transfers of a token, and a stream that names it. */
async function open() {
  const followed = await openFollowedChain(scratch.database, nextChain++);
  onTestFinished(() => followed.close());
  const { chain, pool, scripted } = followed;
  const token = parseAddress(scripted.tokens[0]?.address ?? '');
  const shared = { chain, firstBlock: 1, events: null, indexed: [] };
  await addContract(scratch.database, {
    ...{ ...shared, name: 'token', addresses: [token], factory: null, abi: [ERC20_TRANSFER] },
  });
  const config = { includeContractLogs: true, contracts: ['token.Transfer'], chainIds: [chain.id] };
  const stream = await createStreamStore(scratch.database).create(
    { ...exampleStream(config), description: chain.key },
    exampleActor(),
  );
  const logger = silentLogger();
  const enrich = createEnrichMatch({ database: scratch.database, chain, pool, clock: systemClock, logger });
  const past = { chain, pool, policy: 'strict' as const };
  const services = createPastBlockServices({ database: scratch.database, chains: [{ ...past, enrich }], logger });
  /** `block log` of the transfers of the token. */
  const transfers = (from: number): string[] =>
    Array.from({ length: scripted.head - from + 1 }, (_, index) => followed.blockAt(from + index)).flatMap(
      ({ logs }) =>
        logs
          .filter(({ address, topics }) => address === token && topics[0] === TRANSFER_TOPIC)
          .map(({ blockNumber, logIndex }) => `${blockNumber} ${logIndex}`),
    );
  return { ...followed, past, services, stream, token, transfers };
}

async function matched(streamId: string): Promise<readonly string[]> {
  const rows = await scratch.database.query<{ line: string }>(
    sql`SELECT concat_ws(' ', block_number, log ->> 0) AS line
       FROM stream_matches CROSS JOIN jsonb_array_elements(matched::jsonb -> 'logs') AS log
      WHERE stream_id = ${streamId} AND removed_at IS NULL ORDER BY block_number, (log ->> 0)::int`,
  );
  return rows.map(({ line }) => line);
}

test('new blocks match through a reorg, from the first block after the contract was added', async () => {
  const { caughtUp, scripted, start, stream, transfers } = await open();
  const first = scripted.head + 1;
  const running = start();
  await caughtUp();
  scripted.mine(20);
  await caughtUp();
  scripted.reorg(6, 9);
  await caughtUp();
  await running.stop();
  const expected = transfers(first);
  expect((await matched(stream.id)).filter((line) => Number(line.split(' ')[0]) >= first)).toEqual(expected);
  expect(expected.length).toBeGreaterThan(5);
});

test('past blocks are previewed and replayed, with the event in the ABI of the webhook', async () => {
  const { caughtUp, chain, past, scripted, services, start, stream, token, transfers } = await open();
  const running = start();
  await caughtUp();
  scripted.mine(30);
  await caughtUp();
  await running.stop();
  await scratch.database.query(sql`DELETE FROM stream_matches WHERE stream_id = ${stream.id}`);
  const [place = ''] = transfers(4);
  const blockNumber = Number(place.split(' ')[0]);
  const preview = await services.previewBlock({ chain, blockNumber, config: stream, addresses: [] });
  expect(preview).toMatchObject({ found: true, body: { abi: [{ type: 'event', name: 'Transfer' }] } });
  const logs = preview.found ? (preview.body?.logs as { address: string; triggered_by: string[] }[]) : [];
  expect(logs.every(({ address, triggered_by: by }) => address === token && by.join() === token)).toBe(true);

  const range = { fromBlock: 4, toBlock: scripted.head - chain.confirmations };
  const job = await services.createHistoricalJob({
    stream,
    chain,
    range,
    addresses: null,
    by: exampleActor('key'),
  });
  const dueWork = createDueWork({
    ...{
      database: scratch.database,
      clock: systemClock,
      logger: silentLogger(),
      metrics: createMetricsRegistry(),
    },
  });
  addHistoricalJobs(dueWork, { database: scratch.database, chains: [past], logger: silentLogger() });
  dueWork.start();
  onTestFinished(() => dueWork.close(0));
  await vi.waitFor(
    async () => {
      const [row] = await scratch.database.query(
        sql`SELECT status FROM historical_jobs WHERE id = ${job?.id ?? null}`,
      );
      expect(row?.status).toBe('done');
    },
    { timeout: 20_000, interval: 10 },
  );
  const old = transfers(4).filter((line) => Number(line.split(' ')[0]) <= range.toBlock);
  expect(await matched(stream.id)).toEqual(old);
  expect(old.length).toBeGreaterThan(5);
});

test('a past block is refused while events of a factory are missing', async () => {
  const { caughtUp, chain, scripted, services, start, stream } = await open();
  await addContract(scratch.database, {
    ...{
      chain,
      firstBlock: 1,
      events: null,
      indexed: [],
      name: 'pools',
      addresses: [parseAddress(`0x${'fa'.repeat(20)}`)],
    },
    ...{ factory: { of: null, event: 'Created(address child)', child: 'child' }, abi: [ERC20_TRANSFER] },
  });
  const running = start();
  await caughtUp();
  await running.stop();
  const config = { ...stream, contracts: ['pools'] };
  await expect(
    services.previewBlock({ chain, blockNumber: scripted.head, config, addresses: [] }),
  ).rejects.toMatchObject({ code: 'CONTRACT_CHILDREN_UNKNOWN', retryable: true });
});
