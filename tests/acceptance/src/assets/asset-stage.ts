/** All data routes behind a real socket, over some indexed transfers, with a worker that asks a devnet which keeps no state of block 1. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { parseAddress, silentLogger, systemClock, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, sql } from '@chainstead/db';
import { seedTransfers } from '@chainstead/erc20/testing';
import { openStateStage } from '@chainstead/node-reads/testing';
import { addressOf, closeOf, coverBlocks, createPartitions, hashOf } from '@chainstead/testkit';
import { createDatasetRoutes, datasets, stateReaders } from 'chainstead/src/datasets/index.ts';
import { cursorOf, type RequestStage, serveRoutes } from '../request-table.ts';
import { COLLECTION, TOKEN } from './asset-operations.ts';
import { shown } from './refusals.ts';

/** Contracts that were read, and are no collections; and one whose token 77 names nothing. */
export const NO_CONTRACT = addressOf(0xdead01);
export const NO_NFT = addressOf(0xdead02);
export const READ_COLLECTION = addressOf(0xdead03);
/** A wallet of which nothing is known, and a token. */
export const NOBODY = addressOf(0xdead04);
/** The first block of which transfers are indexed. */
export const INDEXED_FROM = 3;
/** What nodes without an archive say of it. */
const PRUNED_BLOCK = 1;

export async function openAssetStage(): Promise<RequestStage> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.adopt(await openStateStage(), (one) => one.close());
  const { database } = stage.scratch;
  const registry = createChainRegistry();
  const eth = registry.get('eth');
  await stage.devnet.mine(12);
  await seedAssets(database, eth);
  const head = await stage.commit();
  for (const dataset of ['erc20-transfers', 'nft-transfers'])
    await coverBlocks(database, eth.id, dataset, INDEXED_FROM, head.number, 'none');
  const pruned = await stage.devnet.client.getBlock({ blockNumber: BigInt(PRUNED_BLOCK) });
  stage.node.alter = ({ method, params }) => {
    const isOfState = method === 'eth_call' || method === 'eth_getBalance';
    const at = JSON.stringify(params);
    if (!isOfState || !(at.includes(pruned.hash) || at.includes(`"0x${PRUNED_BLOCK}"`))) return undefined;
    return { error: { code: -32000, message: 'missing trie node 1b' } };
  };
  await stage.startWorker(stateReaders);
  const kept = datasets.filter(({ name }) => name !== 'erc20-approvals');
  const routes = createDatasetRoutes({
    database,
    chains: [eth],
    datasets: kept,
    onDemand: { waitMs: 10_000, maxCalls: 0, perKey: 1_000 },
    clock: systemClock,
    logger: silentLogger(),
  });
  const indexed = { chains: [eth], datasets: kept.map(({ name }) => name) };
  const ask = await serveRoutes(parts, database, registry, routes, indexed);
  const erc20 = await cursorOf(ask, `/erc20/${TOKEN}/transfers`);
  const nft = await cursorOf(ask, `/nft/${COLLECTION}/transfers`);
  const cursors = { erc20, nft, cut: erc20.slice(0, -4), erc20Shown: shown(erc20), nftShown: shown(nft) };
  return {
    ask,
    known: {
      ...cursors,
      head: `${head.number}`,
      headTime: `${head.timestamp}`,
      beyond: `${head.number + 1_000}`,
    },
    ...closeOf(parts),
  };
}

/** Three transfers of a token and of a collection, and contracts that were read. */
async function seedAssets(database: Database, eth: Chain): Promise<void> {
  const [token, collection, alice, bob] = [
    parseAddress(TOKEN),
    parseAddress(COLLECTION),
    addressOf(1),
    addressOf(2),
  ];
  await seedTransfers(
    database,
    eth,
    [4, 5, 6].map((blockNumber) => ({
      ...{ from: alice, to: bob, token, value: 5n },
      ...{ blockNumber, transactionIndex: 0, logIndex: 0 },
    })),
  );
  await createPartitions(database, 'nft_transfers', eth.id);
  const nft = sql`${addressBytes(collection)}::bytea`;
  await database.query(
    sql`INSERT INTO nft_transfers (collection_key, chain_id, block_number, transaction_index, log_index, item, kind, token_address, token_id,
       from_address, to_address, amount, transaction_hash)
     SELECT address_key(${nft}), ${eth.id}, block_number, 0, 0, 0, 0, ${nft}, block_number, ${addressBytes(ZERO_ADDRESS)}, ${addressBytes(alice)}, 1, ${hexBytes(hashOf(2, 4))} FROM generate_series(4, 6) AS block_number`,
  );
  await database.query(
    sql`INSERT INTO nft_collections (token_address, chain_id, status, due_at)
     VALUES (${addressBytes(NO_CONTRACT)}, ${eth.id}, 'not-contract', now() + interval '1 day'), (${addressBytes(NO_NFT)}, ${eth.id}, 'not-nft', now() + interval '1 day'), (${addressBytes(READ_COLLECTION)}, ${eth.id}, 'known', NULL)`,
  );
  await database.query(
    sql`INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, synced_at) VALUES (${addressBytes(READ_COLLECTION)}, ${eth.id}, 77, 'none', now())`,
  );
}
