/** The background prover over a node that refuses calls above a rate. */
import { createChainRegistry } from '@chainstead/chains';
import { systemClock } from '@chainstead/core';
import { type ChainStatus, readChainStatuses } from '@chainstead/sync/ingest';
import {
  createScratchDatabase,
  createScriptedChain,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countFaults, startIndexer, upstreamName } from './indexed-chain.ts';

const CHAIN_ID = 1_337_041;
const BLOCKS = 240;
/** The pace while the upstream's is not known. */
const FIRST_BLOCKS_PER_SECOND = 5;
const CALLS_PER_SECOND = 60;
const chain = createChainRegistry({
  additional: [
    { key: 'throttled', id: CHAIN_ID, pollIntervalMs: 1_000, headerHash: true, proofPolicy: 'strict' },
  ],
}).get('throttled');
let scratch: ScratchDatabase;

beforeEach(async () => {
  scratch = await createScratchDatabase();
});
afterEach(() => scratch.drop());

test('it comes near what the node allows, with few refusals, while the head is followed and the time left is told', async () => {
  const scripted = createScriptedChain({ seed: 41, chainId: CHAIN_ID });
  scripted.mine(BLOCKS);
  const node = await serveScriptedChain(scripted, {
    faults: { throttle: { style: 'http-429', callsPerSecond: CALLS_PER_SECOND } },
  });
  const { database } = scratch;
  const indexer = await startIndexer({
    chain,
    urls: [node.url],
    database,
    settings: { verifyBlocksPerSecond: 'auto' },
    clock: systemClock,
  });
  const seen: NonNullable<ChainStatus['proving']>[] = [];
  let newest = BLOCKS;
  try {
    await vi.waitFor(
      async () => {
        const [status] = await readChainStatuses(database, datasets, [chain]);
        if (status?.proving != null) seen.push(status.proving);
        // One more block for each look, up to a number: the head has to be followed meanwhile.
        if (newest < BLOCKS + 20) {
          scripted.mine(1);
          newest += 1;
        }
        expect(status?.checkpoint).toBe(newest);
        const open = status?.coverage.filter(({ proof }) => proof === 'none') ?? [];
        expect(open).toEqual([]);
      },
      { timeout: 150_000, interval: 500 },
    );
  } finally {
    await indexer.stop();
  }
  const { calls } = node.counters;
  const requested = Object.values(calls).reduce((sum, count) => sum + count, 0);
  const refused = await countFaults(indexer.registry, upstreamName(node.url), ['rate-limited']);
  expect(requested).toBeGreaterThan(BLOCKS * 2);
  expect(refused / requested).toBeLessThan(0.15);
  const fastest = Math.max(...seen.map(({ blocksPerSecond }) => blocksPerSecond));
  expect(fastest).toBeGreaterThan(FIRST_BLOCKS_PER_SECOND);
  expect(seen.some(({ blocksLeft, secondsLeft }) => blocksLeft > 0 && secondsLeft > 0)).toBe(true);
  await node.close();
});
