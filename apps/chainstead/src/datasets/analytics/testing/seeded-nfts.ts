import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { seedTrades } from '@chainstead/nft/testing';
import { addressOf, createPartitions, hashOf, storeToken } from '@chainstead/testkit';
import { seedPriceSources } from '@chainstead/tokens/price-feeds';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';

/** The collection in the queries of docs/api/sql-examples.md. */
export const APES = parseAddress('0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d');
export const COLLECTOR = addressOf(0xc011);
const PUNKS = parseAddress('0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb');
const bytes = (address: Address): Buffer => Buffer.from(address.slice(2), 'hex');
const ether = (milli: bigint): string => (milli * 10n ** 15n).toString();

/** Trades, owners and prices for the NFT views, and a transfer in block 5, which must exist. @param wallet buys token 1 for 1.5 ether and sells it for 2.25 */
export async function seedNfts(database: Database, chain: Chain, wallet: Address): Promise<void> {
  await seedPriceSources(database, chain);
  await seedTrades(database, chain, [
    { token: APES, blockNumber: 10, seller: COLLECTOR, buyer: wallet, price: ether(1_500n) },
    { token: APES, blockNumber: 20, seller: wallet, buyer: COLLECTOR, price: ether(2_250n) },
    {
      token: APES,
      blockNumber: 21,
      seller: COLLECTOR,
      buyer: COLLECTOR,
      price: ether(9_000n),
      marketplace: 'blur',
    },
    { token: APES, blockNumber: 22, seller: COLLECTOR, buyer: addressOf(3), price: '0', tokenIds: ['2'] },
    { token: APES, blockNumber: 23, tokenIds: ['3', '4'], price: ether(500n), paymentToken: chain.wrappedNative },
    { token: APES, blockNumber: 24, collections: 2, price: ether(7_000n), tokenIds: ['5'], marketplace: 'x2y2' },
    { token: PUNKS, blockNumber: 30, price: null, buyer: COLLECTOR, marketplace: 'cryptopunks' },
  ]);
  await database.query(
    sql`INSERT INTO punk_bids (token_address, chain_id, token_id, block_number, transaction_index, log_index, bidder, value, entered)
     VALUES (${bytes(PUNKS)}, ${chain.id}, 1, 25, 0, 0, ${bytes(COLLECTOR)}, ${ether(60_000n)}, true)`,
  );
  const [aggregator] = chain.etherPrice.feed?.aggregators ?? [];
  if (aggregator === undefined) throw new Error(`${chain.key} has no feed`);
  await seedAnswers(database, chain, [
    { aggregator, blockNumber: 15, answer: '200000000000' },
    { aggregator, blockNumber: 25, answer: '300050000000' },
  ]);
  await createPartitions(database, 'nft_transfers', chain.id);
  // Two units of id 2 come as an event of ERC-1155. The wallet sent id 9, whose origin is unknown.
  await database.query(
    sql`INSERT INTO nft_transfers (collection_key, chain_id, block_number, transaction_index, log_index, item, kind, token_address, token_id,
       from_address, to_address, amount, transaction_hash)
     SELECT address_key(${bytes(APES)}), ${chain.id}, 6, 0, log_index, 0, kind, ${bytes(APES)}, token_id, sender, recipient, amount, ${Buffer.from(hashOf(2, 6).slice(2), 'hex')}
     FROM (VALUES (0, 0, 1, ${bytes(ZERO_ADDRESS)}::bytea, ${bytes(COLLECTOR)}::bytea, 1), (1, 1, 2, ${bytes(ZERO_ADDRESS)}, ${bytes(COLLECTOR)}, 2), (2, 0, 3, ${bytes(ZERO_ADDRESS)}, ${bytes(wallet)}, 1), (3, 0, 9, ${bytes(wallet)}, ${bytes(ZERO_ADDRESS)}, 1))
       AS moved(log_index, kind, token_id, sender, recipient, amount)`,
  );
  await database.query(
    sql`INSERT INTO nft_transfers (collection_key, chain_id, block_number, transaction_index, log_index, item, kind, token_address, token_id,
       from_address, to_address, amount, transaction_hash)
     VALUES (address_key(${bytes(APES)}), ${chain.id}, 5, 0, 0, 0, 0, ${bytes(APES)}, ${(2n ** 256n - 1n).toString()}, ${bytes(ZERO_ADDRESS)}, ${bytes(COLLECTOR)}, 1, ${Buffer.from(hashOf(2, 5).slice(2), 'hex')})`,
  );
  await storeToken(database, chain.id, APES, {
    standard: 'erc721',
    seen_as: 2,
    name: 'Apes',
    symbol: 'APE',
    facts_status: 'known',
  });
  await database.query(
    sql`INSERT INTO nft_collections (token_address, chain_id, status, collection_category, synced_at) VALUES (${bytes(APES)}, ${chain.id}, 'known', 'pfps', now())`,
  );
}
