import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseChainId, ZERO_ADDRESS } from '@chainstead/core';
import { datasets } from '@chainstead/datasets';
import type { Database } from '@chainstead/db';
import { ensurePartitions } from '@chainstead/sync';
import { CHAIN_ID } from './bench-chain.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { dropIndexes } from './drop-indexes.ts';

/** Whom to ask for in the filled tables, the busiest first. */
export interface TradesDataset {
  readonly rows: number;
  /** Collections, each with many full pages. */
  readonly collections: readonly Address[];
  /** Tokens with a full page at least. */
  readonly tokens: readonly { readonly address: Address; readonly tokenId: string }[];
  /** Rows of the first collection, and of the first token, which is of that collection. */
  readonly busyCollectionRows: number;
  readonly busyTokenRows: number;
}

export interface TradesDatasetPlan {
  readonly rows: number;
  /** Trades of one token. */
  readonly busyTokenRows: number;
}

const COLLECTIONS = 200;
const TOKENS_PER_COLLECTION = 10_000;
const WALLETS = 50_000;
const BUSY_TOKENS = 100;
const PAGE_ROWS = 101;
/** Of all trades, beside those of the busy token. */
const BUSY_COLLECTION_SHARE = 0.3;
const BUSY_TOKEN = 7;
/** One trade in so many is a bundle of two tokens. */
const BUNDLE_EVERY = 50;
/** One token in so many has a document. */
const DOCUMENT_EVERY = 10;
/** The trades are spread over so long a time, up to now. */
const SECONDS = 360 * 86_400;
const ANSWER_EVERY_SECONDS = 3_600;
/** Rows of so many blocks lie together in the heap, sorted by collection, as the backfill writes them. */
const BLOCKS_PER_CHUNK = 120;

const ETH = createChainRegistry().get('eth');
const WRAPPED_ETHER = ETH.wrappedNative ?? ZERO_ADDRESS;
const ANY_WALLET = `substr(sha256(('wallet ' || floor(${WALLETS} * power(random(), 3)))::bytea), 1, 20)`;
const hash = (kind: string, number: string): string => `sha256(('${kind} ' || ${number})::bytea)`;
const collection = (number: string): string => `substr(sha256(('collection ' || ${number})::bytea), 1, 20)`;
const bytes = (address: string): string => `'\\x${address.slice(2)}'::bytea`;

/**
 * Fills the production tables: one trade a block over a year, skewed collections, tokens and wallets, a busy collection with
 * a token that is sold all the time; what is derived of the trades; an answer of the price feed every hour.
 */
export async function fillTradesDataset(database: Database, plan: TradesDatasetPlan): Promise<TradesDataset> {
  const trades = Math.floor((plan.rows * BUNDLE_EVERY) / (BUNDLE_EVERY + 1));
  const step = Math.floor(SECONDS / trades);
  const time = `to_timestamp(${Math.floor(Date.now() / 1_000)} - (${trades} - block_number) * ${step}::bigint)`;
  const span = { from: 1, to: trades };
  await ensurePartitions(database, nftTrades().table, parseChainId(CHAIN_ID), [span], {
    rows: plan.rows,
    blocks: trades,
  });
  const restoreIndexes = await dropIndexes(database, 'nft_trades');
  await database.query('SELECT setseed(0.42)');
  await database.query(`CREATE UNLOGGED TABLE bench_trades AS
    SELECT block_number, by_busy_token, CASE WHEN by_busy_token OR random() < ${BUSY_COLLECTION_SHARE} THEN 0 ELSE floor(${COLLECTIONS} * power(random(), 2)) END::integer AS collection,
      CASE WHEN by_busy_token THEN ${BUSY_TOKEN} ELSE floor(${TOKENS_PER_COLLECTION} * power(random(), 2)) END::integer AS token_id, random() AS market, random() < 0.25 AS in_wrapped,
      ${ANY_WALLET} AS seller, ${ANY_WALLET} AS buyer, floor(power(10, 15 + 4 * random()))::numeric * 997 AS price, block_number % ${BUNDLE_EVERY} = 1 AS is_bundle
    FROM (SELECT block_number, block_number % ${Math.floor(trades / plan.busyTokenRows)} = 0 AS by_busy_token FROM generate_series(1, ${trades}) AS block_number) AS series`);
  await database.query(`INSERT INTO nft_trades (collection_key, token_address, chain_id, block_number, transaction_index, log_index, item, leads,
      token_id, token_ids, amounts, marketplace, protocol, marketplace_address, seller, buyer, side, payment_token, price, collections,
      transaction_hash, block_timestamp)
    SELECT address_key(${collection('collection')}), ${collection('collection')}, ${CHAIN_ID}, block_number, (block_number % 150)::integer,
      (block_number % 400)::integer, part, part = 0, token_id + part,
      CASE WHEN is_bundle THEN ARRAY[token_id, token_id + 1] END, CASE WHEN is_bundle THEN '{1,1}'::numeric[] END,
      CASE WHEN market < 0.55 THEN 'opensea' WHEN market < 0.85 THEN 'blur' WHEN market < 0.9 THEN 'looksrare' WHEN market < 0.95 THEN 'x2y2' ELSE '0xprotocol' END,
      'seaport-1.6', substr(${hash('marketplace', 'floor(market * 20)')}, 1, 20), seller, buyer, 0, CASE WHEN in_wrapped THEN ${bytes(WRAPPED_ETHER)} END, price, 1,
      ${hash('transaction', 'block_number')}, ${time}
    FROM bench_trades CROSS JOIN LATERAL generate_series(0, CASE WHEN is_bundle THEN 1 ELSE 0 END) AS part
    ORDER BY block_number / ${BLOCKS_PER_CHUNK}, collection, block_number, part`);
  await database.query('DROP TABLE bench_trades');
  await database.query(`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
    SELECT ${CHAIN_ID}, block_number, ${hash('block', 'block_number')}, ${time} FROM generate_series(1, ${trades}) AS block_number`);
  await restoreIndexes();
  await fillSurroundings(database, trades, step, time);
  await database.query('VACUUM ANALYZE');
  return describe(database);
}

/** What is derived of the trades, prices of ether, coverage, facts and documents, as they are beside them in a running system. */
async function fillSurroundings(database: Database, blocks: number, step: number, time: string): Promise<void> {
  for (const state of nftTrades().derived ?? []) {
    for (const statement of state.added('nft_trades', 'nft_trades')) await database.query(statement);
    await database.query(
      `INSERT INTO derived_states (chain_id, state, dataset, version, status, position) VALUES ($1, $2, 'nft-trades', $3, 'built', 0)`,
      [CHAIN_ID, state.name, state.version],
    );
  }
  const aggregator = ETH.etherPrice.feed?.aggregators[0];
  if (aggregator === undefined) throw new BenchmarkError('eth has no price feed any more');
  await database.query(`INSERT INTO feed_answers (aggregator, chain_id, block_number, transaction_index, log_index, round, answer, block_timestamp)
    SELECT ${bytes(aggregator)}, ${CHAIN_ID}, block_number, 1, 1, block_number, 250000000000 + floor(50000000000 * random()), ${time}
    FROM generate_series(1, ${blocks}, ${Math.max(1, Math.floor(ANSWER_EVERY_SECONDS / step))}) AS block_number`);
  await database.query(
    `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) SELECT $1, name, 1, $2, 'receipts' FROM unnest($3::text[]) AS name`,
    [CHAIN_ID, blocks, datasets.map(({ name }) => name)],
  );
  await database.query(`INSERT INTO tokens (address, chain_id, standard, name, symbol, decimals, facts_status)
    SELECT ${collection('number')}, ${CHAIN_ID}, 'erc721', 'Collection ' || number, 'C' || number, NULL::integer, 'known' FROM generate_series(0, ${COLLECTIONS - 1}) AS number
    UNION ALL SELECT ${bytes(WRAPPED_ETHER)}, ${CHAIN_ID}, 'erc20', 'Wrapped Ether', 'WETH', 18, 'known'`);
  await database.query(`INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, token_uri, metadata, synced_at)
    SELECT token_address, chain_id, token_id, 'known', 'https://documents.example/' || token_id,
      json_build_object('name', 'Token ' || token_id, 'description', repeat('One of ten thousand pictures. ', 8), 'image', 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/' || token_id || '.png',
        'attributes', json_build_array(json_build_object('trait_type', 'Background', 'value', 'Blue'), json_build_object('trait_type', 'Eyes', 'value', 'Laser'))), now()
    FROM (SELECT DISTINCT token_address, chain_id, token_id FROM nft_trades WHERE token_id % ${DOCUMENT_EVERY} = 0) AS token`);
}

async function describe(database: Database): Promise<TradesDataset> {
  const collections = await database.query<{ address: Address; rows: number }>(
    `SELECT '0x' || encode(token_address, 'hex') AS address, count(*) AS rows FROM nft_trades GROUP BY token_address ORDER BY rows DESC LIMIT ${COLLECTIONS}`,
  );
  const tokens = await database.query<{ address: Address; token_id: string; rows: number }>(
    `SELECT '0x' || encode(token_address, 'hex') AS address, token_id::text AS token_id, count(*) AS rows FROM nft_trades
     GROUP BY token_address, nft_trades.token_id HAVING count(*) >= ${PAGE_ROWS} ORDER BY rows DESC LIMIT ${BUSY_TOKENS}`,
  );
  return {
    rows: collections.reduce((sum, { rows }) => sum + rows, 0),
    collections: collections.map(({ address }) => address),
    tokens: tokens.map(({ address, token_id }) => ({ address, tokenId: token_id })),
    busyCollectionRows: collections[0]?.rows ?? 0,
    busyTokenRows: tokens[0]?.rows ?? 0,
  };
}

function nftTrades() {
  const found = datasets.find(({ name }) => name === 'nft-trades');
  if (found === undefined) throw new BenchmarkError('There is no dataset of trades any more');
  return found;
}
