import { ORDERS_PATH } from 'chainstead/src/demo/demo-program.ts';
import type { Devnet } from 'chainstead/src/demo/devnet/devnet.ts';
import type { Market } from 'chainstead/src/demo/market/market.ts';
import { parseEventLogs } from 'viem';
import { z } from 'zod';
import { type DemoApi, readAllPages } from './demo-api.ts';
import type { Comparison } from './equality.ts';

const EVENT = 'OrderFulfilled';
const order = z.object({
  transaction_hash: z.string(),
  log_index: z.number(),
  params: z.record(z.string(), z.unknown()),
});

/** Compares the rows of all orders with the logs of the node, as viem decodes them. */
export async function compareContract(devnet: Devnet, { seaport }: Market, api: DemoApi): Promise<Comparison> {
  const logs = await devnet.client.getLogs({ address: seaport.address, fromBlock: 0n, toBlock: 'latest' });
  return {
    subject: 'orders of the marketplace, as a contract of your own',
    expected: parseEventLogs({ abi: seaport.abi, eventName: EVENT, logs }).map(
      ({ transactionHash, logIndex, args }) => orderText(transactionHash, logIndex, args),
    ),
    served: async () => {
      const rows = await readAllPages(api, ORDERS_PATH, order);
      return rows.map(({ transaction_hash: hash, log_index: index, params }) =>
        orderText(hash, index, { ...params, orderHash: params.order_hash }),
      );
    },
  };
}

const orderArguments = z.object({
  orderHash: z.string(),
  offerer: z.string(),
  zone: z.string(),
  recipient: z.string(),
  offer: z.unknown(),
  consideration: z.unknown(),
});

function orderText(transactionHash: string, logIndex: number, args: unknown): string {
  return `${transactionHash} ${logIndex}: ${JSON.stringify(orderArguments.parse(args), sortedTexts).toLowerCase()}`;
}

/** jsonb keeps no order of keys. */
function sortedTexts(_: string, value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
