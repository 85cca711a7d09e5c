/** A database whose states an earlier version kept: by sums alone, of single things too. */
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';
import { createKeptSubjects, createSyncMetrics, type KeptState, verifyRanges } from '@chainstead/sync';
import { createScratchDatabase, exampleChain, type ScratchDatabase, seedBuilt } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedMoves } from '../records/testing/seeded-tokens.ts';
import { nftCollectionOwners } from './collection-owners.ts';
import { nftTransfers } from './dataset.ts';
import { account, ERC1155, LAZY } from './testing/example-moves.ts';
import { keptHoldings } from './testing/keep-wallets.ts';
import { keptCollections } from './testing/summed-collections.ts';
import { stagePool } from './wallet-history/testing/history-stage.ts';
import { nftWalletTokens } from './wallet-tokens.ts';

const chain = exampleChain();
const [CREATOR, OTHER] = [account(1), account(2)];

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
  const { database } = scratch;
  await seedMoves(database, chain, [
    { token: LAZY, id: '1', block: 10, from: CREATOR, to: OTHER },
    { token: LAZY, id: '1', block: 20, from: OTHER, to: CREATOR },
    { token: LAZY, id: '2', block: 21, from: CREATOR, to: OTHER },
    { token: ERC1155, id: '7', block: 30, to: CREATOR, amount: '5', kind: 'erc1155Single' },
  ]);
  // As version 1 left it.
  for (const state of [nftWalletTokens, nftCollectionOwners])
    await seedBuilt(database, chain.id, { ...state, version: 1 });
  const keep = 'INSERT INTO kept_subjects (chain_id, state, subject, rows) VALUES ($1, $2, $3, 4)';
  await database.query(keep, [chain.id, nftWalletTokens.name, addressBytes(CREATOR)]);
  await database.query(keep, [chain.id, nftCollectionOwners.name, addressBytes(LAZY)]);
  await database.query(
    `INSERT INTO nft_wallet_tokens (wallet, chain_id, token_address, token_id, amount, last_block)
     VALUES ($1, $2, $3, 1, 0, 20), ($1, $2, $3, 2, -1, 21), ($1, $2, $4, 7, 5, 30)`,
    [addressBytes(CREATOR), chain.id, addressBytes(LAZY), addressBytes(ERC1155)],
  );
  await database.query('INSERT INTO nft_wallet_collections VALUES ($1, $2, $3, 1)', [
    addressBytes(CREATOR),
    chain.id,
    addressBytes(ERC1155),
  ]);
  await database.query(
    `INSERT INTO nft_collection_balances VALUES ($1, $2, 1, $3, 0, 20), ($1, $2, 1, $4, 0, 20), ($1, $2, 2, $3, -1, 21), ($1, $2, 2, $4, 1, 21)`,
    [addressBytes(LAZY), chain.id, addressBytes(CREATOR), addressBytes(OTHER)],
  );
  await database.query(
    `INSERT INTO nft_collection_ids (token_address, chain_id, token_id, token_hash, holders, supply, last_block, newest, receiver)
     VALUES ($1, $2, 1, decode(md5('1'), 'hex'), 0, 0, 20, '{20,0,2,0}', $3), ($1, $2, 2, decode(md5('2'), 'hex'), 1, 1, 21, '{21,0,3,0}', $4)`,
    [addressBytes(LAZY), chain.id, addressBytes(CREATOR), addressBytes(OTHER)],
  );
  await database.query('INSERT INTO nft_collection_owners VALUES ($1, $2, $3, 1)', [
    addressBytes(LAZY),
    chain.id,
    addressBytes(OTHER),
  ]);
  await database.query('INSERT INTO nft_collection_counts VALUES ($1, $2, 3, 1, 1)', [addressBytes(LAZY), chain.id]);
});
afterAll(() => scratch.drop());

const keep = (state: KeptState, subject: typeof LAZY) =>
  createKeptSubjects(scratch.database).keep(chain, { dataset: nftTransfers, state }, subject, 60_000);

/** What every command and process of this version does before all else; of no blocks, so that no node is asked. */
async function begin(): Promise<void> {
  const pool = stagePool(chain, 'http://127.0.0.1:9', 1);
  await verifyRanges(
    {
      chain,
      pool,
      database: scratch.database,
      datasets: [nftTransfers],
      logger: silentLogger(),
      metrics: createSyncMetrics(createMetricsRegistry()),
      clock: systemClock,
      proof: 'record',
      backfillProof: 'none',
    },
    [],
    new AbortController().signal,
  );
  await pool.close();
}

test('what was kept by sums is there until this version begins, and is counted anew then', async () => {
  const held = [`${CREATOR} ${ERC1155} 7 5`, `${CREATOR} ${ERC1155} holds 1`];
  expect(await keptHoldings(scratch.database, chain.id)).toEqual([`${CREATOR} ${LAZY} 2 -1`, ...held].sort());
  expect(await keep(nftWalletTokens, CREATOR)).toBe('waiting');
  await begin();
  expect(await keep(nftWalletTokens, CREATOR)).toBe('built');
  expect(await keptHoldings(scratch.database, chain.id)).toEqual(
    [...held, `${CREATOR} ${LAZY} 1 1`, `${CREATOR} ${LAZY} holds 1`].sort(),
  );
  expect(await keep(nftCollectionOwners, LAZY)).toBe('built');
  const lines = await keptCollections(scratch.database, chain.id);
  expect(lines.filter((line) => /^(owner|counts)/.test(line))).toEqual([
    `counts ${LAZY} 3 2 2`,
    `owner ${LAZY} ${CREATOR} 1`,
    `owner ${LAZY} ${OTHER} 1`,
  ]);
});
