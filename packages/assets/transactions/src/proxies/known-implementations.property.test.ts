import { type Address, type Hash, type Log, parseAddress, ZERO_HASH } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { StateBlock } from '@chainstead/node-reads/requests';
import type { WatchedBlock } from '@chainstead/sync';
import { exampleChain, hashOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginReading, type ImplementationRow, saveImplementations } from './contract-implementations.ts';
import { createProxiesWatcher } from './create-proxies-watcher.ts';

const scratch = scratchOfFile();

const chain = exampleChain();
const PROXY = parseAddress(`0x${'a1'.repeat(20)}`);
const UPGRADED = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b' as Hash;

/** The real implementation of a proxy, block by block. Reading it takes a while, in which the chain continues. */
type Step =
  | { readonly kind: 'block'; readonly changes: boolean }
  | { readonly kind: 'reorganise'; readonly depth: number; readonly changes: boolean }
  | { readonly kind: 'begin' }
  | { readonly kind: 'save'; readonly back: number; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('block' as const), changes: fc.boolean() }) },
  fc.record({
    kind: fc.constant('reorganise' as const),
    depth: fc.integer({ min: 1, max: 3 }),
    changes: fc.boolean(),
  }),
  { weight: 2, arbitrary: fc.constant({ kind: 'begin' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('save' as const),
      back: fc.integer({ min: 0, max: 3 }),
      which: fc.nat(),
    }),
  },
);

test('whatever is read and announced in whatever order, nothing else is known than what was so', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const model = await openModel();
      for (const one of steps) await model.take(one);
      for (const [block, implementation] of await knownBlocks(model.truth.length - 1))
        expect([block, implementation]).toEqual([block, model.truth[block]]);
    }),
    { numRuns: 60 },
  );
});

const implementation = (version: number): Address => parseAddress(`0x${version.toString(16).padStart(40, '0')}`);

async function openModel() {
  const { database } = scratch;
  await database.query(sql`TRUNCATE contract_implementations, blocks, sync_chains`);
  const watcher = createProxiesWatcher();
  /** By block. */
  const truth: Address[] = [implementation(1)];
  let version = 1;
  let fork = 0;
  const begun: { readonly block: StateBlock; readonly seen: readonly Address[] }[] = [];

  async function commit(changes: boolean, ancestor: number | null): Promise<void> {
    const previous = truth.at(-1) ?? implementation(1);
    if (changes) version += 1;
    truth.push(changes ? implementation(version) : previous);
    const number = truth.length - 1;
    await database.transaction(async (transaction) => {
      if (ancestor !== null) {
        await watcher.rolledBack(transaction, chain, ancestor);
        await transaction.query(sql`DELETE FROM blocks WHERE block_number > ${ancestor}`);
      }
      await transaction.query(
        sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${chain.id}, ${number}, ${Buffer.from(hashOf(number, fork).slice(2), 'hex')}, now())`,
      );
      await transaction.query(
        sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint) VALUES (${chain.id}, 0, 0, ${number})
         ON CONFLICT (chain_id) DO UPDATE SET checkpoint = excluded.checkpoint`,
      );
      await watcher.committed(transaction, chain, [watched(number, changes)]);
    });
  }
  await commit(false, null);

  return {
    truth,
    async take(one: Step): Promise<void> {
      if (one.kind === 'block') return commit(one.changes, null);
      if (one.kind === 'reorganise') {
        const ancestor = Math.max(0, truth.length - 1 - one.depth);
        truth.length = ancestor + 1;
        fork += 1;
        return commit(one.changes, ancestor);
      }
      if (one.kind === 'begin') {
        const block = await beginReading(database, chain, [PROXY]);
        // A node returns the state of this block by its hash, even if it is reorganized away.
        if (block !== null) begun.push({ block, seen: [...truth] });
        return;
      }
      const [reading] = begun.splice(one.which % Math.max(1, begun.length), 1);
      if (reading === undefined) return;
      const { block, seen } = reading;
      const first = Math.max(0, block.number - one.back);
      const [now, then] = [seen[block.number], seen[first]];
      if (now === undefined || then === undefined) return;
      const row = (fromBlock: number, untilBlock: number | null, target: Address): ImplementationRow => ({
        ...{ proxy: PROXY, selector: null, beacon: null, form: 'eip-1967', implementation: target },
        ...{ fromBlock, untilBlock },
      });
      const sure = seen.slice(first, block.number + 1).every((each) => each === now) ? block.number : first;
      await saveImplementations(database, chain, block, [
        row(block.number, null, now),
        ...(first < block.number ? [row(first, sure, then)] : []),
      ]);
    },
  };
}

function watched(number: number, changes: boolean): WatchedBlock {
  const log = { address: PROXY, topics: [UPGRADED, ZERO_HASH] } as unknown as Log;
  return { header: { number }, logs: changes ? [log] : [] } as unknown as WatchedBlock;
}

/** The stored implementation of each block. */
async function knownBlocks(head: number): Promise<readonly (readonly [number, Address])[]> {
  const rows = await scratch.database.query<{ block: number; implementation: Address }>(
    sql`SELECT number::float8 AS block, '0x' || encode(known.implementation, 'hex') AS implementation FROM generate_series(0, ${head}::int) AS number,
       LATERAL (SELECT * FROM contract_implementations WHERE from_block <= number AND (until_block IS NULL OR until_block >= number)
                ORDER BY from_block DESC LIMIT 1) AS known
     WHERE known.implementation IS NOT NULL`,
  );
  return rows.map(({ block, implementation: target }) => [block, target]);
}
