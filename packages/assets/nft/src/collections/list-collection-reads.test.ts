import { parseChainId } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { type CollectionReadsRequested, listCollectionReads } from './list-collection-reads.ts';

const scratch = scratchOfFile();
beforeAll(async () => {
  await scratch.database.query(
    sql`INSERT INTO nft_collections (token_address, chain_id, status, error_code, error_message, name)
     SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), chain, (ARRAY['pending', 'known', 'not-nft', 'failed'])[1 + number % 4],
            CASE WHEN number % 4 = 3 THEN 'DOCUMENT' END, CASE WHEN number % 4 = 3 THEN 'It is no JSON' END, 'Name ' || number
       FROM (VALUES (1), (10)) AS chains (chain), generate_series(0, 39) AS number`,
  );
});

async function all(requested: Partial<CollectionReadsRequested>) {
  const found = [];
  let after: CollectionReadsRequested['after'] = null;
  do {
    const page = await listCollectionReads(scratch.database, {
      chainId: null,
      state: null,
      limit: 7,
      ...requested,
      after,
    });
    found.push(...page.collections);
    after = page.next;
  } while (after !== null);
  return found;
}

test('collections are paged by address, each once, with what became of them in words', async () => {
  const found = await all({});
  expect(new Set(found.map(({ chainId, address }) => `${chainId} ${address}`)).size).toBe(80);
  expect(found).toHaveLength(80);
  const refused = await all({ state: 'refused', chainId: parseChainId(10) });
  expect(refused).toHaveLength(10);
  expect(refused[0]).toMatchObject({ state: 'refused', error: { message: 'The contract is no NFT collection' } });
  const failed = await all({ state: 'failed' });
  expect(failed).toHaveLength(20);
  expect(failed[0]).toMatchObject({ error: { code: 'DOCUMENT', message: 'It is no JSON' } });
  expect(await all({ state: 'queued' })).toHaveLength(20);
});
