import type { Chain } from '@chainstead/chains';
import { addContract } from '@chainstead/contracts/datasets';
import type { Database } from '@chainstead/db';
import type { Market } from './market/market.ts';

const NAME = 'market';
const EVENT = 'OrderFulfilled';
export const ORDERS_PATH = `contracts/${NAME}/order_fulfilled`;
export const ORDERS_LIST = `contracts_${NAME}_order_fulfilled`;
export const ORDERS_VIEW = `analytics.contract_${NAME}_order_fulfilled`;

/** Adds the marketplace's orders, as `chainstead contracts add` does, with an index on their sellers. */
export async function addDemoContract(database: Database, chain: Chain, { seaport }: Market): Promise<void> {
  await addContract(database, {
    name: NAME,
    chain,
    addresses: [seaport.address],
    factory: null,
    abi: seaport.abi,
    firstBlock: null,
    events: [EVENT],
    indexed: ['offerer'],
  });
}
