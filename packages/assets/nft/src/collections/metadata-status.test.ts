import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { readMetadataStatuses } from './list-collection-reads.ts';

const scratch = scratchOfFile();

test('counts what is known, waits and fails by chain, and lists what fails', async () => {
  expect(await readMetadataStatuses(scratch.database, 2)).toEqual([]);
  await scratch.database.query(sql`
    INSERT INTO nft_collections (token_address, chain_id, status, synced_at, due_at, attempts, error_code, error_message) VALUES
      ('\\x01', 1, 'known', now(), NULL, 0, NULL, NULL),
      ('\\x02', 1, 'known', now(), now(), 0, NULL, NULL),
      ('\\x03', 1, 'known', now(), now() + interval '1 hour', 3, 'DOCUMENT_NOT_JSON', 'not JSON'),
      ('\\x04', 1, 'pending', NULL, now() + interval '1 minute', 1, NULL, NULL),
      ('\\x05', 1, 'failed', NULL, now() + interval '1 minute', 1, 'UPSTREAMS_EXHAUSTED', 'none answered'),
      ('\\x06', 1, 'failed', NULL, NULL, 9, 'UNEXPECTED', NULL),
      ('\\x07', 1, 'not-nft', NULL, now(), 0, NULL, NULL),
      ('\\x08', 137, 'pending', NULL, now(), 0, NULL, NULL)`);
  await scratch.database.query(sql`
    INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, synced_at, due_at, error_code) VALUES
      ('\\x01', 1, 1, 'known', now(), NULL, NULL), ('\\x01', 1, 2, 'failed', NULL, NULL, 'DOCUMENT_NOT_JSON')`);
  const [eth, polygon, ...others] = await readMetadataStatuses(scratch.database, 2);
  expect(others).toEqual([]);
  expect(eth).toEqual({
    chainId: 1,
    collections: { known: 3, waiting: 2, failing: 3 },
    tokens: { known: 1, waiting: 0, failing: 1 },
    failing: [
      { address: '0x06', attempts: 9, dueAt: null, error: { code: 'UNEXPECTED', message: '' } },
      {
        address: '0x03',
        attempts: 3,
        dueAt: expect.any(Date),
        error: { code: 'DOCUMENT_NOT_JSON', message: 'not JSON' },
      },
    ],
  });
  expect(polygon).toMatchObject({ chainId: 137, collections: { known: 0, waiting: 1, failing: 0 }, failing: [] });
});
