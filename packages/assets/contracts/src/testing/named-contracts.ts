/** A contract, a factory and a factory of factories, with logs of any emitter, and a model of the logs that belong to each name. */
import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, type Log, parseAddress, parseHash } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync/datasets';
import { toEventSelector } from 'viem';
import { readContractDatasets } from '../dataset/contract-datasets.ts';
import { addContract } from '../definitions/add-contract.ts';

export const VAULT = parseAddress(`0x${'c0'.repeat(20)}`);
export const ROOT = parseAddress(`0x${'fa'.repeat(20)}`);
/** First block of the vault. */
const VAULT_FIRST = 3;

/** An event of an emitter, which may name another one. */
export interface Happening {
  readonly kind: 'hub' | 'pool' | 'ping';
  /** Positions in {@link PARTIES}. */
  readonly emitter: number;
  readonly child: number;
}

/** Addresses that emit events, and that factories name. */
export const PARTIES: readonly Address[] = [
  ROOT,
  VAULT,
  ...[1, 2, 3, 4].map((index) => parseAddress(`0x${index.toString(16).padStart(40, '0')}`)),
];

const PING = { type: 'event', name: 'Ping', inputs: [{ name: 'number', type: 'uint256' }] };
const POOL_CREATED = { type: 'event', name: 'PoolCreated', inputs: [{ name: 'pool', type: 'address' }] };
const TOPICS = {
  hub: toEventSelector('HubCreated(address)'),
  pool: toEventSelector('PoolCreated(address)'),
  ping: toEventSelector('Ping(uint256)'),
};
const HASH = parseHash(`0x${'ab'.repeat(32)}`);

/** Adds the contracts `vault`, `hubs` and `pools` to a chain. @returns their datasets, as if the factories were complete */
export async function addNamedContracts(database: Database, chain: Chain): Promise<readonly Dataset[]> {
  const shared = { chain, events: null, indexed: [] };
  await addContract(database, {
    ...{ ...shared, name: 'vault', addresses: [VAULT], factory: null, firstBlock: VAULT_FIRST, abi: [PING] },
  });
  await addContract(database, {
    ...{ ...shared, name: 'hubs', addresses: [ROOT], firstBlock: 1, abi: [POOL_CREATED] },
    factory: { of: null, event: 'HubCreated(address hub)', child: 'hub' },
  });
  await addContract(database, {
    ...{ ...shared, name: 'pools', addresses: [], firstBlock: 1, abi: [PING] },
    factory: { of: 'hubs', event: 'PoolCreated(address pool)', child: 'pool' },
  });
  // Events of children are only indexed if those of their factories are known up to the newest block.
  await database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof)
     SELECT ${chain.id}, dataset, 0, 1000000, 'none' FROM unnest(${['contracts.hubs_hub_created', 'contracts.pools_pool_created']}::text[]) AS dataset`,
  );
  const datasets = await readContractDatasets(database);
  await database.query(sql`DELETE FROM sync_ranges WHERE chain_id = ${chain.id}`);
  return datasets;
}

/** Returns the log of a happening. @param place of the log in its block, and of its transaction */
export function logOf({ kind, emitter, child }: Happening, blockNumber: number, place: number): Log {
  const word = kind === 'ping' ? place.toString(16) : addressAt(child).slice(2);
  return {
    address: addressAt(emitter),
    topics: [parseHash(TOPICS[kind])],
    data: `0x${word.padStart(64, '0')}` as Hex,
    ...{ blockNumber, blockHash: HASH, blockTimestamp: null, transactionHash: HASH },
    ...{ transactionIndex: place, logIndex: place },
  };
}

/** Returns the places (`block log`) of the logs that belong to each name, found one log after the other. @param blocks the first one is block 1 */
export function namedInModel(blocks: readonly (readonly Happening[])[]): ReadonlyMap<string, readonly string[]> {
  const [hubs, pools] = [new Set<Address>(), new Set<Address>()];
  const found = new Map<string, string[]>(MODEL_NAMES.map((name) => [name, []]));
  for (const [index, happenings] of blocks.entries())
    for (const [place, { kind, emitter, child }] of happenings.entries()) {
      const [address, named] = [addressAt(emitter), addressAt(child)];
      const add = (...names: readonly string[]) => {
        for (const name of names) found.get(name)?.push(`${index + 1} ${place}`);
      };
      if (kind === 'ping' && address === VAULT && index + 1 >= VAULT_FIRST)
        add('vault', 'vault.Ping', 'vault.ping');
      if (kind === 'ping' && pools.has(address)) add('pools', 'pools.Ping');
      if (kind === 'pool' && hubs.has(address)) {
        add('hubs', 'hubs.PoolCreated', 'pools', 'pools.pool_created');
        pools.add(named);
      }
      if (kind === 'hub' && address === ROOT) {
        add('hubs', 'hubs.HubCreated');
        hubs.add(named);
      }
    }
  return found;
}

/** Names with logs in the model, and two without. */
export const MODEL_NAMES: readonly string[] = [
  ...['vault', 'vault.Ping', 'vault.ping', 'hubs', 'hubs.HubCreated', 'hubs.PoolCreated'],
  ...['pools', 'pools.Ping', 'pools.pool_created', 'vault.PoolCreated', 'nothing'],
];

function addressAt(party: number): Address {
  const address = PARTIES[party];
  if (address === undefined) throw new RangeError(`There is no party ${party}`);
  return address;
}
