import { sql } from '@chainstead/db';
import { addressOf, createPartitions, exampleChain, explain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { type SeededTransfer, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
import { changedSuppliesStatement, tokensBySymbolStatement } from './get-token-facts.ts';

const chain = exampleChain();
const MINTS = 20_000;
const TOKENS = 20;

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await createPartitions(scratch.database, 'erc20_transfer_sides', chain.id, [5_000, 10_000]);
  await seedTransfers(scratch.database, chain, mints());
  await scratch.database.query(
    sql`INSERT INTO tokens (address, chain_id, standard, symbol, facts_status)
     SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), 1, 'erc20', 'S' || number % 5000, 'known' FROM generate_series(100, 50000) AS number`,
  );
  await scratch.database.query(sql`ANALYZE`);
});

function* mints(): Generator<SeededTransfer> {
  for (let index = 0; index < MINTS; index++)
    yield {
      from: addressOf(0),
      to: addressOf(1_000 + (index % 50)),
      token: addressOf(101 + (index % TOKENS)),
      value: 1n,
      blockNumber: index,
      transactionIndex: 0,
      logIndex: 0,
    };
}

test.each(['generic', 'custom'] as const)(
  'mints since a block are found by an index, the %s plan',
  async (plan) => {
    const tokens = Array.from({ length: TOKENS }, (_, index) => ({
      address: addressOf(101 + index),
      since: 19_000,
    }));
    const { nodes, buffers } = await explain(scratch.database, changedSuppliesStatement(chain, tokens), plan);
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
    expect(buffers).toBeLessThan(TOKENS * 20);
  },
);

test.each(['generic', 'custom'] as const)(
  'tokens of a symbol are found by an index, the %s plan',
  async (plan) => {
    const { nodes, buffers } = await explain(
      scratch.database,
      tokensBySymbolStatement(chain, ['s77', 'S78'], 101),
      plan,
    );
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
    expect(buffers).toBeLessThan(100);
  },
);
