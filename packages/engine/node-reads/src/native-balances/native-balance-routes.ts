import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { blockParameter, each, type RouteModule, routesFor, view, wire, withServices } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { committedBlock } from '../committed-block.ts';
import type { NodeReadQueue } from '../queue/node-read-queue.ts';
import { StateUnavailableError } from '../state-error.ts';
import { type NativeBalances, nativeBalancesKind, storedNativeBalances } from './stored-native-balances.ts';

const { address, digits, quantity, text } = wire;
const amount = wire.wire(z.string().openapi({ pattern: '^[0-9]+(\\.[0-9]+)?$', example: '5' }));
const WEI = '5000000000000000000';
const block = { description: 'Block number. The balances are those after this block', example: '16435704' };

const balanceView = view('NativeBalance', (found: NativeBalances) => found, {
  balance: digits({ description: 'In wei', example: WEI }, ({ balances }) => balances[0] ?? '0'),
  block_number: digits(block, (found) => found.block.number),
});

interface WalletBalance {
  readonly address: Address;
  readonly balance: string;
  readonly chain: Chain;
}

const walletView = view('NativeWalletBalance', (wallet: WalletBalance) => wallet, {
  address: address(),
  balance: digits({ description: 'In wei', example: WEI }),
  balance_formatted: amount('In whole native tokens', ({ balance, chain }) => wholeTokens(balance, chain)),
});

function totalOf(chain: Chain, addresses: readonly Address[], found: NativeBalances) {
  const total = found.balances.reduce((sum, wei) => sum + BigInt(wei), 0n).toString();
  const wallets = addresses.map((wallet, index) => {
    return { address: wallet, balance: found.balances[index] ?? '0', chain };
  });
  return { chain, total, wallets, block: found.block };
}

const balancesView = view('NativeBalances', totalOf, {
  chain: text({ example: 'eth' }, ({ chain }) => chain.key),
  chain_id: quantity({ pattern: '^0x[0-9a-f]+$', example: '0x1' }, ({ chain }) => chain.id),
  total_balance: digits({ description: 'Total of all wallets in wei', example: WEI }, ({ total }) => total),
  total_balance_formatted: amount('In whole native tokens', ({ total, chain }) => wholeTokens(total, chain)),
  block_number: digits(block, (found) => found.block.number),
  block_timestamp: digits(
    { description: 'Unix seconds', example: '1674069191' },
    (found) => found.block.timestamp,
  ),
  wallet_balances: each(walletView)('In request order', ({ wallets }) => wallets),
});

function wholeTokens(wei: string, { native }: Chain): string {
  return decimalAmount(wei, native.decimals);
}

/** docs/api/wallets.md#native-balances */
export function nativeBalanceRoutes(options: NativeBalancesOptions): RouteModule {
  return withServices(options, [nativeBalanceRoute, nativeBalancesRoute]);
}

const { defineRoute } = routesFor<NativeBalancesOptions>();
const toBlock = blockParameter(
  'Returns the balance after this block. Older blocks need an archive node. Default: the newest indexed block.',
);

const nativeBalanceRoute = defineRoute({
  path: '/api/v2.2/{address}/balance',
  operationId: 'getNativeBalance',
  tag: 'Wallets',
  summary: 'Get the native balance of a wallet',
  description: 'Read from a node on request. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.',
  params: ['address'],
  query: ['chain', { to_block: toBlock }],
  response: { description: 'The native balance', schema: balanceView.schema },
  errors: [404],
  async answer({ address: wallet, chain, to_block: past = null, database, services }) {
    return balanceView.show(
      await getNativeBalances(services, database, chain, { addresses: [wallet], toBlock: past }),
    );
  },
});

const nativeBalancesRoute = defineRoute({
  path: '/api/v2.2/wallets/balances',
  operationId: 'getNativeBalancesForAddresses',
  tag: 'Wallets',
  summary: 'Get native balances of multiple wallets',
  description:
    'All balances are of one block. Read from a node on request. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.',
  query: ['chain', { to_block: toBlock, wallet_addresses: 'addressesInOrder' }],
  response: {
    description: 'An array with one object: the native balances',
    schema: z.array(balancesView.schema),
  },
  errors: [404],
  async answer({ chain, wallet_addresses: addresses, to_block: past = null, database, services }) {
    const found = await getNativeBalances(services, database, chain, { addresses, toBlock: past });
    return [balancesView.show(chain, addresses, found)];
  },
});

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
