import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount, toQuantity } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { defineRoute, type RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { committedBlock } from '../committed-block.ts';
import type { NodeReadQueue } from '../queue/node-read-queue.ts';
import { StateUnavailableError } from '../state-error.ts';
import { type NativeBalances, nativeBalancesKind, storedNativeBalances } from './stored-native-balances.ts';

/** docs/api/wallets.md#native-balances */
export function nativeBalanceRoutes(options: NativeBalancesOptions): readonly RouteModule[] {
  const routes: RouteModule = (app, dependencies) => {
    const { database, parameters } = dependencies;
    const query = {
      chain: parameters.chain,
      to_block: parameters.toBlock.openapi({
        description:
          'Returns the balance after this block. Older blocks need an archive node. Default: the newest indexed block.',
      }),
    };
    defineRoute(app, dependencies, {
      path: '/api/v2.2/{address}/balance',
      operationId: 'getNativeBalance',
      tags: ['Wallets'],
      summary: 'Get the native balance of a wallet',
      description: 'Read from a node on request. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.',
      params: { address: parameters.address },
      query,
      response: { description: 'The native balance', schema: nativeBalanceSchema },
      errors: [404],
      async answer({ address, chain, to_block: toBlock = null }) {
        const requested = { addresses: [address], toBlock };
        const { block, balances } = await getNativeBalances(options, database, chain, requested);
        return { balance: balances[0] ?? '0', block_number: String(block.number) };
      },
    });
    defineRoute(app, dependencies, {
      path: '/api/v2.2/wallets/balances',
      operationId: 'getNativeBalancesForAddresses',
      tags: ['Wallets'],
      summary: 'Get native balances of multiple wallets',
      description:
        'All balances are of one block. Read from a node on request. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.',
      query,
      lists: { wallet_addresses: parameters.addressesInOrder },
      response: { description: 'An array with one object: the native balances', schema: nativeBalancesSchema },
      errors: [404],
      async answer({ chain, wallet_addresses: addresses, to_block: toBlock = null }) {
        const balances = await getNativeBalances(options, database, chain, { addresses, toBlock });
        return showNativeBalances(chain, addresses, balances);
      },
    });
  };
  return [routes];
}

const digits = (example: string) => z.string().openapi({ pattern: '^[0-9]+$', example });
const amount = (example: string) => z.string().openapi({ pattern: '^[0-9]+(\\.[0-9]+)?$', example });

const nativeBalanceSchema = z
  .object({
    balance: digits('5000000000000000000').openapi({ description: 'In wei' }),
    block_number: digits('16435704').openapi({
      description: 'Block number. The balances are those after this block',
    }),
  })
  .openapi('NativeBalance');

const walletBalanceSchema = z
  .object({
    address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    balance: digits('5000000000000000000').openapi({ description: 'In wei' }),
    balance_formatted: amount('5').openapi({ description: 'In whole native tokens' }),
  })
  .openapi('NativeWalletBalance');

const nativeBalancesSchema = z.array(
  z
    .object({
      chain: z.string().openapi({ example: 'eth' }),
      chain_id: z.string().openapi({ pattern: '^0x[0-9a-f]+$', example: '0x1' }),
      total_balance: digits('5000000000000000000').openapi({ description: 'Total of all wallets in wei' }),
      total_balance_formatted: amount('5').openapi({ description: 'In whole native tokens' }),
      block_number: digits('16435704').openapi({
        description: 'Block number. The balances are those after this block',
      }),
      block_timestamp: digits('1674069191').openapi({ description: 'Unix seconds' }),
      wallet_balances: z.array(walletBalanceSchema).openapi({ description: 'In request order' }),
    })
    .openapi('NativeBalances'),
);

function showNativeBalances(
  chain: Chain,
  addresses: readonly Address[],
  { block, balances }: NativeBalances,
): z.infer<typeof nativeBalancesSchema> {
  const coins = (wei: string): string => decimalAmount(wei, chain.native.decimals);
  const total = balances.reduce((sum, wei) => sum + BigInt(wei), 0n).toString();
  return [
    {
      chain: chain.key,
      chain_id: toQuantity(chain.id),
      total_balance: total,
      total_balance_formatted: coins(total),
      block_number: String(block.number),
      block_timestamp: String(block.timestamp),
      wallet_balances: addresses.map((address, index) => {
        const balance = balances[index] ?? '0';
        return { address, balance, balance_formatted: coins(balance) };
      }),
    },
  ];
}

export interface NativeBalancesOptions {
  readonly nodeReads: NodeReadQueue;
  readonly maxAgeMs: number;
}

/** @throws StateUnavailableError (503) if no result came in time, StateNotArchivedError (404) */
export async function getNativeBalances(
  { nodeReads, maxAgeMs }: NativeBalancesOptions,
  database: Database,
  chain: Chain,
  { addresses, toBlock }: { readonly addresses: readonly Address[]; readonly toBlock: number | null },
): Promise<NativeBalances> {
  const newest = toBlock === null ? null : await committedBlock(database, chain);
  const past = toBlock === null || newest === null || toBlock >= newest.number ? null : toBlock;
  if (past === null) {
    const stored = await storedNativeBalances(database, chain, addresses, maxAgeMs);
    if (stored !== null) return stored;
  }
  // Readings of the newest block are stored.
  const sharing = past === null ? 0 : maxAgeMs;
  const question = { addresses: [...addresses], to_block: past };
  const answer = await nodeReads.request(chain, nativeBalancesKind, question, { maxAgeMs: sharing });
  if (answer === null)
    throw new StateUnavailableError(`Balances on ${chain.name} are being read: retry in a moment`);
  return answer;
}
