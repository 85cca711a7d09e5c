import { fileURLToPath } from 'node:url';
import { createChainRegistry } from '@chainstead/chains';
import { ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { CONSECUTIVE_TRANSFER_TOPIC } from '@chainstead/events/token-events';
import { createScratchDatabase, firstLine, serveChain, spawnDependent } from '@chainstead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { CommitProcessOptions } from './testing/commit-process.ts';
import { account, contract } from './testing/example-moves.ts';
import { createEventSource, type PlacedEvent, topicOf, word } from './wallet-history/testing/event-source.ts';

const HEAP_MEGABYTES = 128;
const BLOCKS = [3, 4, 5, 9];
const EVENTS_OF_BLOCK = 15;
/** Maximum expanded events of a block. */
const EXPANDED = 2;
const IDS = 50_000;

/** One range of ids to a separate account. */
const mint = (number: number): PlacedEvent => ({
  address: contract(number),
  topics: [CONSECUTIVE_TRANSFER_TOPIC, topicOf(1), topicOf(ZERO_ADDRESS), topicOf(account(number))],
  data: `0x${word(IDS)}`,
});

test('blocks full of consecutive mints are committed and verified in a small heap', async () => {
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  const events = Object.fromEntries(
    BLOCKS.map((block) => [
      block,
      Array.from({ length: EVENTS_OF_BLOCK }, (_, index) => mint(block * 100 + index)),
    ]),
  );
  const node = await serveChain(
    createEventSource({ chainId: createChainRegistry().get('eth').id, head: 20, events }),
  );
  onTestFinished(() => node.close());
  const options: CommitProcessOptions = { databaseUrl: scratch.url, nodeUrl: node.url, lastBlock: 12 };
  const child = spawnDependent(process.execPath, [
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    fileURLToPath(new URL('testing/commit-process.ts', import.meta.url)),
    JSON.stringify(options),
  ]);
  onTestFinished(() => child.stop());
  expect(
    await firstLine(
      child,
      (line) => line,
      (errorOutput) => new Error(errorOutput),
    ),
  ).toBe('0 repairs');
  const [stored] = await scratch.database.query(
    sql`SELECT count(*) FILTER (WHERE last_token_id IS NULL) AS ids, count(last_token_id) AS ranges FROM nft_transfers`,
  );
  const expanded = BLOCKS.length * EXPANDED;
  expect(stored).toEqual({ ids: expanded * IDS, ranges: BLOCKS.length * (EVENTS_OF_BLOCK - EXPANDED) });
  const [held] = await scratch.database.query(
    sql`SELECT count(DISTINCT owner) AS holders, sum(amount)::text AS ids FROM analytics.nft_owners`,
  );
  expect(held).toEqual({ holders: expanded, ids: `${expanded * IDS}` });
}, 180_000);
