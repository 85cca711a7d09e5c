import { type Address, waitingAtMost, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { createPartitions, exampleChain, seedBuilt } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { nftTransfers } from './dataset.ts';
import { account, contract } from './testing/example-moves.ts';
import { storedHoldings } from './testing/keep-wallets.ts';
import { nftWalletTokens } from './wallet-tokens.ts';

const chain = exampleChain();
const OF = { dataset: nftTransfers, state: nftWalletTokens };
const HOLDER = account(7);

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  const { database } = scratch;
  await seedBuilt(database, chain.id, nftWalletTokens);
  await createPartitions(database, 'nft_transfers', chain.id, [500]);
  // 20,000 mints to 2,000 accounts; the holder receives ten of them and sends one.
  await database.query(
    sql`INSERT INTO nft_transfers (collection_key, chain_id, block_number, transaction_index, log_index, item, kind, token_address, token_id,
       from_address, to_address, amount, transaction_hash)
     SELECT address_key(${bytes(contract(1))}), ${chain.id}, number / 20, 0, number, 0, 0, ${bytes(contract(1))}, number, ${bytes(ZERO_ADDRESS)}, decode(lpad(to_hex(number % 2000 + 1), 40, '0'), 'hex'), 1, ${bytes(ZERO_ADDRESS)}
       FROM generate_series(0, 19999) AS number`,
  );
  await database.query(
    sql`INSERT INTO nft_transfers (collection_key, chain_id, block_number, transaction_index, log_index, item, kind, token_address, token_id,
       from_address, to_address, amount, transaction_hash)
     VALUES (address_key(${bytes(contract(1))}), ${chain.id}, 999, 0, 30000, 0, 0, ${bytes(contract(1))}, 7, ${bytes(HOLDER)}, ${bytes(account(1))}, 1, ${bytes(HOLDER)})`,
  );
  await database.query(sql`ANALYZE nft_transfers`);
});

function bytes(address: Address): Buffer {
  return Buffer.from(address.slice(2), 'hex');
}

const keep = (wallet: Address, projections = createSubjectProjections(scratch.database)) =>
  waitingAtMost(60_000, () => projections.keep(chain, OF, wallet));

describe('a wallet that is asked about', () => {
  it('has what its transfers add up to, and nobody else has anything', async () => {
    expect(await keep(HOLDER)).toBe('built');
    const held = Array.from({ length: 9 }, (_, index) => `${HOLDER} ${contract(1)} ${(index + 1) * 2_000 + 7} 1`);
    expect(await storedHoldings(scratch.database, chain.id)).toEqual(
      [...held, `${HOLDER} ${contract(1)} holds 9`].sort(),
    );
  });

  it('has the same where whom it gave something to is asked about at once', async () => {
    await scratch.database.query(sql`TRUNCATE subject_projections, nft_wallet_tokens, nft_wallet_collections`);
    const projections = createSubjectProjections(scratch.database);
    const requested = [account(3), HOLDER, account(1)];
    await Promise.all(requested.map((wallet) => keep(wallet, projections)));
    const counts = (await storedHoldings(scratch.database, chain.id)).filter((line) => line.includes(' holds '));
    expect(counts).toEqual(
      [
        `${account(3)} ${contract(1)} holds 10`,
        `${HOLDER} ${contract(1)} holds 9`,
        `${account(1)} ${contract(1)} holds 11`,
      ].sort(),
    );
  });

  it('is counted by the indexes of both sides', async () => {
    for (const condition of nftWalletTokens.subjects.rowsOf(sql`${addressBytes(HOLDER)}::bytea`)) {
      const plan = await scratch.database.query<{ 'QUERY PLAN': string }>(
        sql`EXPLAIN SELECT FROM nft_transfers WHERE chain_id = ${chain.id} AND block_number > -1 AND (${condition})`,
      );
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      expect(text).toMatch(/Index Cond: .*SUBSTRING\((?:from|to)_address .*block_number > '?-1/);
      expect(text).not.toContain('Seq Scan');
    }
  });

  it('is nobody where it is the zero address: its mints and burns are not even read', async () => {
    expect(await keep(ZERO_ADDRESS)).toBe('built');
    const [projections] = await scratch.database.query(
      sql`SELECT rows FROM subject_projections WHERE subject = ${bytes(ZERO_ADDRESS)}`,
    );
    expect(projections).toEqual({ rows: 0 });
  });
});
