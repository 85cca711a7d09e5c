import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, systemClock } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { areTablesSpread, createMissingIndexes } from '@chainstead/pages';
import { getLastSalesOfTokens } from '../sale-prices/get-last-sales.ts';
import { type NftRecord, type RecordKey, recordId } from './nft-record.ts';
import { readRarities } from './read-rarities.ts';
import { readRecords } from './read-records.ts';

/** Those known within a request's wait. */
export type SendersOf = (chain: Chain, hashes: readonly Hash[]) => Promise<ReadonlyMap<Hash, Address>>;

const BY_TOKEN = 'nft_transfers_by_token';

export function createRecordPages(database: ReadDatabase, sendersOf: SendersOf = async () => new Map()) {
  const missing = createMissingIndexes(database, systemClock, [BY_TOKEN]);
  return {
    async read(chain: Chain, keys: readonly RecordKey[], { includePrices }: { readonly includePrices: boolean }) {
      const hasMints = (await missing()).length === 0;
      const isSpread = await areTablesSpread(database);
      const unrated = await readRecords(database, chain, keys, { hasMints, isSpread });
      const rarities = await readRarities(database, chain, unrated, isSpread);
      const records = unrated.map((record) => ({ ...record, rarity: rarities.get(recordId(record)) ?? null }));
      const tokens = keys.map(({ address, tokenId }) => ({ token: address, tokenId }));
      return {
        records,
        lastSales: includePrices ? await getLastSalesOfTokens(database, chain, tokens) : null,
        minters: await mintersOf(chain, records, sendersOf),
      };
    },
  };
}

async function mintersOf(
  chain: Chain,
  records: readonly NftRecord[],
  sendersOf: SendersOf,
): Promise<ReadonlyMap<string, Address>> {
  const minted = records.flatMap((record) =>
    record.mint === null || record.contractType === 'ERC1155'
      ? []
      : [{ id: recordId(record), hash: record.mint.transactionHash }],
  );
  if (minted.length === 0) return new Map();
  const senders = await sendersOf(chain, [...new Set(minted.map(({ hash }) => hash))]);
  return new Map(
    minted.flatMap(({ id, hash }) => {
      const sender = senders.get(hash);
      return sender === undefined ? [] : [[id, sender] as const];
    }),
  );
}
