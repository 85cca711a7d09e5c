import { indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { ActiveChain, EndTransaction } from './get-active-chain.ts';

const endSchema = z
  .object({
    block_number: z.string().openapi({ pattern: '^[0-9]+$' }),
    block_timestamp: z.string().openapi({ example: '2022-11-19T20:01:23.000Z' }),
    transaction_hash: z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' }),
  })
  .openapi('EndTransaction');

/** docs/api/wallets.md#active-chains */
export const activeChainsSchema = z
  .object({
    address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    active_chains: z.array(
      z
        .object({
          chain: z.string().openapi({ example: 'eth' }),
          chain_id: z.string().openapi({ example: '0x1' }),
          first_transaction: endSchema.openapi({
            description: 'First known transaction. The first of all if indexed.complete is true',
          }),
          last_transaction: endSchema,
          indexed: indexedSchema,
        })
        .openapi('ActiveChain'),
    ),
  })
  .openapi('WalletActiveChains');

type ShownChain = z.infer<typeof activeChainsSchema>['active_chains'][number];

export function showActiveChain({ chain, first, last, indexed }: ActiveChain): ShownChain {
  return {
    chain: chain.key,
    chain_id: `0x${chain.id.toString(16)}`,
    first_transaction: showEnd(first),
    last_transaction: showEnd(last),
    indexed: showIndexed(indexed),
  };
}

function showEnd({ block, hash }: EndTransaction): z.infer<typeof endSchema> {
  const { block_number, block_timestamp } = block;
  return { block_number: String(block_number), block_timestamp, transaction_hash: hash };
}
