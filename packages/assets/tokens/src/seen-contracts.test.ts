import { addressBytes, sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { readSeenContracts } from './seen-contracts.ts';

const CONTRACT = addressOf(0xc0);

const scratch = scratchOfFile();
beforeAll(async () => {
  for (const [chainId, standard, seenAs] of [
    [1, 'erc20', 1],
    [10, null, 1],
    [137, 'erc721', 0],
    [8453, null, 4],
    [42161, null, 0],
  ])
    await scratch.database.query(
      sql`INSERT INTO tokens (address, chain_id, standard, seen_as, name) VALUES (${addressBytes(CONTRACT)}, ${chainId ?? null}, ${standard ?? null}, ${seenAs ?? null}, 'N')`,
    );
});

test('a contract is told by chain, as what it says or its events show it', async () => {
  const seen = await readSeenContracts(scratch.database, CONTRACT);
  expect(seen.map(({ chainId, isToken, isCollection }) => [chainId, isToken, isCollection])).toEqual([
    [1, true, false],
    [10, true, false],
    [137, false, true],
    [8453, false, true],
    [42161, false, false],
  ]);
  expect(await readSeenContracts(scratch.database, addressOf(1))).toEqual([]);
});
