import type { Chain } from '@chainstead/chains';
import { addContract } from '@chainstead/contracts/datasets';
import type { Database } from '@chainstead/db';
import type { Market } from './market/market.ts';

const NAME = 'market';
export const ORDERS_PATH = `contracts/${NAME}/order_fulfilled`;
export const ORDERS_LIST = `contracts_${NAME}_order_fulfilled`;
export const ORDERS_VIEW = `analytics.contract_${NAME}_order_fulfilled`;

export async function addDemoContract(database: Database, chain: Chain, { seaport }: Market): Promise<void> {
  const { address, abi } = seaport;
  await addContract(database, {
    ...{ name: NAME, chain, addresses: [address], factory: null, abi, firstBlock: null },
    ...{ events: ['OrderFulfilled'], indexed: ['offerer'] },
  });
}
