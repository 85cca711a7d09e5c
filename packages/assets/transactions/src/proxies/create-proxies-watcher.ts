import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexText, sql, type Transaction } from '@chainstead/db';
import type { BlockWatcher, WatchedBlock } from '@chainstead/sync';
import { noteAnnouncements, rollBackAnnouncements } from '@chainstead/tokens/requests';
import { UNANNOUNCED } from './proxy-forms.ts';

const ANNOUNCEMENTS: ReadonlySet<string> = new Set([
  // Upgraded(address)
  '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b',
  // BeaconUpgraded(address)
  '0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e',
  // DiamondCut((address,uint8,bytes4[])[],address,bytes)
  '0x8faa70878671ccd212d20771b795c50af8fd3ff6cf27f4bde57e5d4de0aeb673',
]);

/** Tokens behind new proxies often have other facts before. */
const INITIALIZATIONS: ReadonlySet<string> = new Set([
  // Initialized(uint8)
  '0x7f26b83ff96e1f2b6a682f133852f6798a09c465da95921460cefb3847402498',
  // Initialized(uint64)
  '0xc7f505b2f371ae2175ee4913f4499e1f2633a7b5936321eed1cdaeb6115181d2',
]);

const NEEDS = { transactions: false, internalTransfers: false } as const;

/** Ends stored implementations at a change. Logs are not trusted: reads follow. */
export function createProxiesWatcher(): BlockWatcher {
  return {
    needs: async () => NEEDS,
    async committed(transaction, chain, blocks) {
      const changes = new Map(logsWith(ANNOUNCEMENTS, blocks).toReversed());
      const announced = new Map([...logsWith(INITIALIZATIONS, blocks), ...logsWith(ANNOUNCEMENTS, blocks)]);
      if (announced.size === 0) return;
      const proxies = changes.size === 0 ? [] : await proxiesOf(transaction, chain, [...changes.keys()]);
      for (const { proxy, beacon } of proxies) announced.set(proxy, announced.get(beacon) ?? 0);
      await noteAnnouncements(transaction, chain.id, announced);
      if (changes.size === 0) return;
      await transaction.query(
        sql`UPDATE contract_implementations AS known SET until_block = change.block_number - 1
         FROM unnest(${[...changes.keys()].map(addressBytes)}::bytea[], ${[...changes.values()]}::bigint[]) AS change (address, block_number)
         WHERE known.chain_id = ${chain.id} AND (known.proxy = change.address OR known.beacon = change.address)
           AND known.until_block IS NULL AND known.from_block < change.block_number AND known.known_by <> 'eip-1167'`,
      );
    },
    async rolledBack(transaction, chain, ancestor) {
      await rollBackAnnouncements(transaction, chain.id, ancestor);
      await transaction.query(
        sql`DELETE FROM contract_implementations WHERE chain_id = ${chain.id} AND from_block > ${ancestor}`,
      );
      await transaction.query(
        sql`DELETE FROM contract_codes WHERE chain_id = ${chain.id} AND block_number > ${ancestor}`,
      );
      await transaction.query(
        sql`UPDATE contract_implementations SET until_block = CASE WHEN known_by = ANY (${[...UNANNOUNCED]}::text[]) THEN least(until_block, ${ancestor}) END
         WHERE chain_id = ${chain.id} AND until_block >= ${ancestor}`,
      );
    },
  };
}

function logsWith(topics: ReadonlySet<string>, blocks: readonly WatchedBlock[]): (readonly [Address, number])[] {
  return blocks.flatMap(({ header, logs }) =>
    logs.flatMap(({ address, topics: [topic0] }) =>
      topic0 !== undefined && topics.has(topic0) ? [[address, header.number] as const] : [],
    ),
  );
}

function proxiesOf(
  transaction: Transaction,
  chain: Chain,
  beacons: readonly Address[],
): Promise<readonly { readonly proxy: Address; readonly beacon: Address }[]> {
  return transaction.query(
    sql`SELECT DISTINCT ${hexText('proxy')} AS proxy, ${hexText('beacon')} AS beacon FROM contract_implementations
     WHERE chain_id = ${chain.id} AND beacon = ANY (${beacons.map(addressBytes)}::bytea[])`,
  );
}
