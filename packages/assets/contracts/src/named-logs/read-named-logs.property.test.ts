/** Logs of named contracts equal the rows of their tables, and a model that reads one log after the other. */

import { createChainRegistry } from '@chainstead/chains';
import type { Log } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDefinitions } from '../definitions/contract-definition.ts';
import { removeContract } from '../definitions/remove-contract.ts';
import { writeContractRows } from '../testing/contract-rows.ts';
import {
  addNamedContracts,
  type Happening,
  logOf,
  MODEL_NAMES,
  namedInModel,
  PARTIES,
} from '../testing/named-contracts.ts';
import { readNamedLogs } from './read-named-logs.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');

const party = fc.integer({ min: 0, max: PARTIES.length - 1 });
const happening: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constantFrom('hub', 'pool', 'pool', 'ping', 'ping'),
  // The root names most hubs.
  emitter: fc.oneof(fc.constant(0), party, party),
  child: party,
});
const block = fc.array(happening, { maxLength: 8 });
/** Blocks that are committed together. */
const batches = fc.array(fc.array(block, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 });

test('logs of a name are the rows of its tables, in the commit of their blocks and afterwards', async () => {
  await fc.assert(
    fc.asyncProperty(batches, async (given) => {
      const datasets = await addNamedContracts(scratch.database, chain);
      const definitions = await readDefinitions(scratch.database);
      const names = MODEL_NAMES;
      const found = new Map<string, string[]>(names.map((name) => [name, []]));
      const all: Log[] = [];
      let last = 0;
      for (const blocks of given) {
        const range = { from: last + 1, to: last + blocks.length };
        last = range.to;
        const logs = blocks.flatMap((one, index) =>
          one.map((happened, place) => logOf(happened, range.from + index, place)),
        );
        all.push(...logs);
        await scratch.database.transaction(async (transaction) => {
          await writeContractRows(transaction, chain, datasets, { range, logs });
          // As streams do it, before the commit.
          const named = await readNamedLogs(transaction, definitions, {
            chain,
            names,
            logs,
            from: range.from,
            completeTo: null,
          });
          for (const [log, ofLog] of named)
            for (const { name } of ofLog) found.get(name)?.push(`${log.blockNumber} ${log.logIndex}`);
        });
      }
      expect(found).toEqual(namedInModel(given.flat()));
      expect(found.get('pools')).toEqual(await stored('pools_pool_created', 'pools_ping'));
      expect(found.get('hubs')).toEqual(await stored('hubs_hub_created', 'hubs_pool_created'));
      expect(found.get('vault')).toEqual(await stored('vault_ping'));
      const again = await readNamedLogs(scratch.database, definitions, {
        chain,
        names,
        logs: all,
        from: 1,
        completeTo: last,
      });
      expect([...again.values()].flat().length).toBe([...found.values()].flat().length);
      await expect(
        readNamedLogs(scratch.database, definitions, { chain, names, logs: all, from: 1, completeTo: last + 1 }),
      ).rejects.toMatchObject({ code: 'CONTRACT_CHILDREN_UNKNOWN', retryable: true });
      for (const name of ['vault', 'pools', 'hubs']) await removeContract(scratch.database, name, chain.id);
    }),
    { numRuns: atDepth(40) },
  );
});

async function stored(...tables: readonly string[]): Promise<readonly string[]> {
  const places = tables.map((table) => `SELECT block_number, log_index FROM contracts.${table}`);
  const rows = await scratch.database.query<{ place: string }>(
    sql`SELECT concat_ws(' ', block_number, log_index) AS place FROM (${rawSql(places.join(' UNION ALL '))}) AS rows ORDER BY block_number, log_index`,
  );
  return rows.map(({ place }) => place);
}
