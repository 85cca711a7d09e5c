import { parseAddress, parseChainId } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import type { Subject } from '../coverage/subject.ts';
import { type HistoriesRequested, listHistories } from './history-record.ts';

const scratch = scratchOfFile();
beforeAll(async () => {
  await scratch.database.query(
    sql`INSERT INTO backfill_requests (chain_id, kind, subject, status, error_code, error_message)
     SELECT chain, kind, decode(lpad(to_hex(number), 40, '0'), 'hex'),
            CASE WHEN number % 10 = 0 THEN 'refused' ELSE 'done' END,
            CASE WHEN number % 10 = 0 THEN 'HISTORY_REFUSED' END, CASE WHEN number % 10 = 0 THEN 'too many calls' END
       FROM (VALUES (1), (10)) AS chains (chain), (VALUES ('contract'), ('wallet')) AS kinds (kind), generate_series(1, 40) AS number`,
  );
});

async function all(requested: Partial<HistoriesRequested>): Promise<string[]> {
  const found: string[] = [];
  let after: Subject | null = null;
  do {
    const page = await listHistories(scratch.database, {
      chainId: null,
      status: null,
      limit: 7,
      ...requested,
      after,
    });
    expect(page.histories.length).toBeLessThanOrEqual(7);
    found.push(...page.histories.map(({ subject }) => `${subject.chainId} ${subject.kind} ${subject.address}`));
    after = page.next;
  } while (after !== null);
  return found;
}

test('histories are paged by chain, kind and subject, each once', async () => {
  const found = await all({});
  expect(found).toHaveLength(160);
  expect(new Set(found).size).toBe(160);
  expect(found.at(-1)).toBe(`10 wallet 0x${'28'.padStart(40, '0')}`);
});

test('of one chain and state those alone, with the reason', async () => {
  const chainId = parseChainId(10);
  expect(await all({ chainId })).toHaveLength(80);
  expect(await all({ chainId, status: 'refused' })).toHaveLength(8);
  const after = { chainId, kind: 'wallet', address: parseAddress(`0x${'1e'.padStart(40, '0')}`) } as const;
  const page = await listHistories(scratch.database, { chainId: null, status: 'refused', after, limit: 5 });
  expect(page).toMatchObject({ histories: [{ error: { message: 'too many calls' } }], next: null });
});
