/** Streams that name contracts, over blocks that are followed and replaced: matches equal those of a model that reads one log after the other. */

import { type Chain, createChainRegistry } from '@chainstead/chains';
import { removeContract } from '@chainstead/contracts';
import {
  addNamedContracts,
  type Happening,
  logOf,
  MODEL_NAMES,
  namedInModel,
  PARTIES,
  removeContractRows,
  writeContractRows,
} from '@chainstead/contracts/testing';
import { parseHash } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { WatchedBlock } from '@chainstead/sync';
import type { Dataset } from '@chainstead/sync/datasets';
import { atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exampleBlock } from '../matching/testing/example-block.ts';
import { exampleStream } from '../matching/testing/example-stream.ts';
import { createStreamStore } from '../records/stream-store.ts';
import { exampleActor } from '../records/testing/example-actor.ts';
import { createStreamsWatcher } from '../watching/create-streams-watcher.ts';

const scratch = scratchOfFile();
let nextChain = 960_001;
let nextHash = 1n;

const party = fc.integer({ min: 0, max: PARTIES.length - 1 });
const happening: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constantFrom('hub', 'pool', 'pool', 'ping', 'ping'),
  emitter: fc.oneof(fc.constant(0), party, party),
  child: party,
});

/** Rolls back some blocks, then follows others in commits of `batch` blocks. */
const step = fc.record({
  back: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5 })),
  blocks: fc.array(fc.array(happening, { maxLength: 7 }), { minLength: 1, maxLength: 5 }),
  batch: fc.integer({ min: 1, max: 3 }),
});

test('matches are the logs of the named contracts on the canonical chain, with children created in their block', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const chain = createChainRegistry({
        additional: [{ key: `named-${nextChain}`, id: nextChain, confirmations: 3 }],
      }).get(nextChain);
      nextChain += 1;
      const datasets = await addNamedContracts(scratch.database, chain);
      await createStreams(chain);
      const followed: Followed = {
        chain,
        datasets,
        watcher: createStreamsWatcher({ database: scratch.database }),
      };
      const canonical: Happening[][] = [];
      for (const { back, blocks, batch } of steps) {
        const ancestor = Math.max(0, canonical.length - back);
        const isBack = ancestor < canonical.length;
        canonical.length = ancestor;
        for (let from = 0; from < blocks.length; from += batch) {
          const part = blocks.slice(from, from + batch);
          await commit(followed, canonical.length + 1, part, isBack && from === 0 ? ancestor : null);
          canonical.push(...part);
        }
        expect(await stored(chain)).toEqual(expected(canonical));
      }
      for (const name of ['vault', 'pools', 'hubs']) await removeContract(scratch.database, name, chain.id);
    }),
    { numRuns: atDepth(25) },
  );
});

/** One stream for each name, and one for several names. Its topic0 restricts watched addresses alone. */
async function createStreams(chain: Chain): Promise<void> {
  const store = createStreamStore(scratch.database);
  const shared = { includeContractLogs: true, chainIds: [chain.id] };
  for (const name of MODEL_NAMES)
    await store.create({ ...exampleStream({ ...shared, contracts: [name] }), description: name }, exampleActor());
  const several = { ...shared, contracts: ['vault.Ping', 'vault', 'pools'], topic0: ['Other(uint256)'] };
  await store.create({ ...exampleStream(several), description: SEVERAL }, exampleActor());
}

const SEVERAL = 'vault and pools';

interface Followed {
  readonly chain: Chain;
  readonly datasets: readonly Dataset[];
  readonly watcher: ReturnType<typeof createStreamsWatcher>;
}

/** As the sync engine commits followed blocks. */
async function commit(
  { chain, datasets, watcher }: Followed,
  first: number,
  blocks: readonly (readonly Happening[])[],
  ancestor: number | null,
): Promise<void> {
  const watched = blocks.map((happenings, index) => blockOf(happenings, first + index));
  await scratch.database.transaction(async (transaction) => {
    if (ancestor !== null) {
      await watcher.rolledBack(transaction, chain, ancestor);
      await removeContractRows(transaction, chain, datasets, ancestor);
    }
    const range = { from: first, to: first + blocks.length - 1 };
    await writeContractRows(transaction, chain, datasets, { range, logs: watched.flatMap(({ logs }) => logs) });
    await watcher.committed(transaction, chain, watched);
  });
}

function blockOf(happenings: readonly Happening[], number: number): WatchedBlock {
  const example = exampleBlock([]);
  const hash = parseHash(`0x${(nextHash++).toString(16).padStart(64, '0')}`);
  const header = { ...example.header, number, hash };
  const logs = happenings.map((one, place) => logOf(one, number, place));
  return { ...example, header, block: { ...example.block, header }, logs };
}

/** `stream block log` of valid matches. */
async function stored({ id }: Chain): Promise<readonly string[]> {
  const rows = await scratch.database.query<{ line: string }>(
    sql`SELECT concat_ws(' ', description, block_number, log ->> 0) AS line
       FROM stream_matches JOIN streams ON streams.id = stream_id CROSS JOIN jsonb_array_elements(matched::jsonb -> 'logs') AS log
      WHERE chain_id = ${id} AND removed_at IS NULL`,
  );
  return rows.map(({ line }) => line).sort();
}

function expected(canonical: readonly (readonly Happening[])[]): readonly string[] {
  const named = namedInModel(canonical);
  const several = new Set([...(named.get('vault') ?? []), ...(named.get('pools') ?? [])]);
  return [
    ...[...named].flatMap(([name, places]) => places.map((place) => `${name} ${place}`)),
    ...linesOf(several),
  ].sort();
}

function linesOf(places: Iterable<string>): readonly string[] {
  return Array.from(places, (place) => `${SEVERAL} ${place}`);
}
