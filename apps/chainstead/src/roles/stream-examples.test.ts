import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { readStreamExamples } from './listen.ts';

const scratch = scratchOfFile();
const FIRST = '00000000-0000-4000-8000-000000000001';
const SECOND = '00000000-0000-4000-8000-000000000002';

test('the documentation gets the id of the oldest stream that was not deleted', async () => {
  expect(await readStreamExamples(scratch.database)).toEqual({});
  await scratch.database.query(
    sql`INSERT INTO streams (id, webhook_url, description, tag, chain_ids, all_addresses, include_native_txs, include_contract_logs,
       include_internal_txs, include_all_tx_logs, filter_possible_spam_addresses, get_native_balances, demo, status, status_message,
       created_at, deleted_at)
     SELECT id, 'https://example.com', '', '', '{1}', false, true, false, false, false, false, '[]', false, 'active', '', created, deleted
     FROM (VALUES (${FIRST}::uuid, now() - interval '1 day', now()), (${SECOND}, now(), NULL)) AS given(id, created, deleted)`,
  );
  expect(await readStreamExamples(scratch.database)).toEqual({
    GetStream: { id: SECOND },
    GetAddresses: { id: SECOND },
    GetStatsByStreamId: { streamId: SECOND },
  });
});
