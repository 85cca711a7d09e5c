/** The thread of operations ends, and with it all that it served. */
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { subscribe } from '../testing/event-reader.ts';
import { type GraphqlBody, type GraphqlStage, OTHER_KEYS, openGraphqlStage } from '../testing/graphql-stage.ts';
import { seedVault, writeDeposits } from '../testing/seeded-vault.ts';

const scratch = scratchOfFile();
/** The values of one operation may take more than the heap. */
const stage: GraphqlStage = stageOfFile(() =>
  openGraphqlStage(scratch, { timeoutMs: 60_000, bytesMax: 2 ** 30, heapMb: 80 }),
);
/** Node.js holds texts of more than a megabyte outside the heap. */
const NOTE_BYTES = 900_000;
const NOTES = 150;
const OVERSIZED = `{ contracts_vault_deposit(chain: 1, first: ${NOTES}) { nodes { note } } }`;
const SMALL = '{ contracts_vault_deposit(chain: 1, first: 1) { nodes { log_index } } }';
const NEW_ROWS = 'subscription { contracts_vault_deposit(chain: 1) { nodes { log_index } } }';
const UNAVAILABLE = {
  code: 'GRAPHQL_UNAVAILABLE',
  remedy: 'Retry, and request fewer rows if the error repeats.',
};
/** Others wait for their turn. */
const OPERATIONS = 8;
const [OTHER_KEY = ''] = OTHER_KEYS;

beforeAll(async () => {
  await seedVault(scratch.database);
  await writeDeposits(scratch.database, [{ block: 10 }]);
  await scratch.database.query(
    sql`INSERT INTO contracts.vault_deposit (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract, owner, assets, is_first, note, parts)
     SELECT chain_id, block_number, transaction_index, log, block_time, transaction_hash, contract, owner, assets, is_first, repeat('x', ${NOTE_BYTES}::int), parts
     FROM contracts.vault_deposit, generate_series(1, ${NOTES}::int) AS log`,
  );
  expect(await result(SMALL)).toMatchObject({ status: 200 });
});

async function result(query: string, key = EXAMPLE_KEY): Promise<{ status: number; body: GraphqlBody }> {
  const response = await stage.post(JSON.stringify({ query }), { 'x-api-key': key });
  return { status: response.status, body: (await response.json()) as GraphqlBody };
}

test('if it runs out of memory, each operation ends with an error, and the next runs in a new one', async () => {
  const keys = [EXAMPLE_KEY, OTHER_KEY];
  const readers = await Promise.all(keys.map((key) => subscribe(stage.url, NEW_ROWS, {}, key)));
  const results = await Promise.all([
    ...Array.from({ length: OPERATIONS }, () => result(OVERSIZED)),
    result(OVERSIZED, OTHER_KEY),
  ]);
  for (const one of results)
    expect(one).toMatchObject({ status: 503, body: { errors: [{ extensions: UNAVAILABLE }] } });
  expect(await Promise.all(keys.map((key) => result(SMALL, key)))).toMatchObject([
    { status: 200 },
    { status: 200 },
  ]);
  for (const reader of readers) {
    expect(await reader.next()).toMatchObject({ errors: [{ extensions: UNAVAILABLE }] });
    expect(await reader.next()).toBeNull();
  }
});
