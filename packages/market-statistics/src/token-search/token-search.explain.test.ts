import { createChainRegistry } from '@chainstead/chains';
import { explain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { textStatement } from './search-statement.ts';

const eth = createChainRegistry().get('eth');
const TOKENS = 60_000;

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  // Every name has "token" in it, each 60th symbol is the same, and each 600th token is of a list.
  await scratch.database.query(
    `INSERT INTO tokens (address, chain_id, standard, name, symbol, verified, facts_status)
     SELECT substring(sha256(number::text::bytea) FOR 20), 1, 'erc20', 'Token ' || md5(number::text),
       CASE WHEN number % 60 = 0 THEN 'SAME' ELSE upper(substring(md5('s' || number) FOR 6)) END, number % 600 = 7, 'known'
     FROM generate_series(1, ${TOKENS}) AS number`,
  );
  await scratch.database.query('VACUUM ANALYZE tokens');
});

describe.each(['generic', 'custom'] as const)('a search of tokens by the %s plan', (plan) => {
  test.each([
    // Ranges stop after 10,000 rows: a sixth of the table here.
    ['a text of every name', 'token', 30_000],
    ['a common symbol', 'same', 10_000],
    ['a rare part', 'c4ca4238a0b9', 2_000],
    ['an unknown part', 'xyzxyzxyz', 2_000],
    ['one letter', 's', 10_000],
  ])('reads a bounded part for %s', async (_of, query, buffersMax) => {
    const statement = textStatement({ chains: [eth], query, verifiedOnly: false });
    const { buffers } = await explain(scratch.database, statement, plan);
    expect(buffers).toBeLessThan(buffersMax);
  });

  test.each([true, false])('takes indexes, of verified tokens only: %s', async (verifiedOnly) => {
    const statement = textStatement({ chains: [eth], query: 'c4ca4238', verifiedOnly });
    const { nodes } = await explain(scratch.database, statement, plan);
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
  });
});
