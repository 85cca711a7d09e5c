import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount, toQuantity } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import type { NativeBalances } from './stored-native-balances.ts';

const digits = (example: string) => z.string().openapi({ pattern: '^[0-9]+$', example });
const amount = (example: string) => z.string().openapi({ pattern: '^[0-9]+(\\.[0-9]+)?$', example });

/** docs/api/wallets.md#native-balances */
export const nativeBalanceSchema = z
  .object({
    balance: digits('5000000000000000000').openapi({ description: 'In wei' }),
    block_number: digits('16435704').openapi({ description: 'Block number. The balances are those after this block' }),
  })
  .openapi('NativeBalance');

const walletBalanceSchema = z
  .object({
    address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    balance: digits('5000000000000000000').openapi({ description: 'In wei' }),
    balance_formatted: amount('5').openapi({ description: 'In whole native tokens' }),
  })
  .openapi('NativeWalletBalance');

export const nativeBalancesSchema = z.array(
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

export function showNativeBalance({ block, balances }: NativeBalances): z.infer<typeof nativeBalanceSchema> {
  return { balance: balances[0] ?? '0', block_number: String(block.number) };
}

export function showNativeBalances(
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
