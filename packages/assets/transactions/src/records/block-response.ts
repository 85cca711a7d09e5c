import type { Chain } from '@chainstead/chains';
import { beaconNetwork } from '@chainstead/proof';
import { z } from '@hono/zod-openapi';
import type { BlockRecord } from './block-record.ts';
import { blockTransactionSchema, isoOf, markShape } from './transaction-response.ts';

const digits = (example: string) => z.string().openapi({ pattern: '^[0-9]+$', example });
const hash = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });
const hex = z.string().openapi({ pattern: '^0x[0-9a-f]*$' });

const withdrawalSchema = z
  .object({
    index: digits('0'),
    validator_index: digits('1'),
    address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    amount: digits('32000000000').openapi({ description: 'Gwei' }),
  })
  .openapi('BlockWithdrawal');

/** docs/api/blocks.md#blocks */
export const blockSchema = z
  .object({
    timestamp: z.string().openapi({ example: '2021-05-07T11:08:35.000Z' }),
    number: digits('12386788'),
    hash,
    parent_hash: hash,
    nonce: hex.nullable(),
    sha3_uncles: hash.nullable(),
    logs_bloom: hex.nullable(),
    transactions_root: hash.nullable(),
    state_root: hash.nullable(),
    receipts_root: hash.nullable(),
    miner: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    difficulty: digits('7253857437305950'),
    total_difficulty: digits('24325637817906576196890').openapi({ description: '0 if no node returns it' }),
    size: digits('61271').openapi({ description: 'Bytes. 0 if no node returns it' }),
    extra_data: hex.nullable(),
    gas_limit: digits('14977947'),
    gas_used: digits('14964688'),
    base_fee_per_gas: digits('44738542107').optional().openapi({ description: 'In wei. Since the London fork' }),
    transaction_count: digits('252'),
    mix_hash: hash.optional(),
    withdrawals_root: hash.optional(),
    withdrawals: z.array(withdrawalSchema).optional(),
    blob_gas_used: digits('131072').optional(),
    excess_blob_gas: digits('0').optional(),
    parent_beacon_block_root: hash.optional(),
    requests_hash: hash.optional(),
    transactions: z.array(blockTransactionSchema),
    ...markShape,
  })
  .openapi('Block');

type ShownBlock = z.infer<typeof blockSchema>;
type ShownHeader = Omit<ShownBlock, 'transactions' | keyof typeof markShape>;

const UNKNOWN = '0';

/** Without fields that some chains lack. */
export function showHeader(chain: Pick<Chain, 'id'>, block: BlockRecord, transactionCount: number): ShownHeader {
  const { mergeBlock = Number.POSITIVE_INFINITY, finalDifficulty } = beaconNetwork(chain.id) ?? {};
  const merged = block.number < mergeBlock ? UNKNOWN : String(finalDifficulty);
  return {
    timestamp: isoOf(block.timestamp),
    number: String(block.number),
    hash: block.hash,
    parent_hash: block.parentHash,
    nonce: block.nonce,
    sha3_uncles: block.sha3Uncles,
    logs_bloom: block.logsBloom,
    transactions_root: block.transactionsRoot,
    state_root: block.stateRoot,
    receipts_root: block.receiptsRoot,
    miner: block.miner,
    difficulty: block.difficulty,
    total_difficulty: block.totalDifficulty ?? merged,
    size: block.size,
    extra_data: block.extraData,
    gas_limit: block.gasLimit,
    gas_used: block.gasUsed,
    ...(block.baseFeePerGas !== null && { base_fee_per_gas: block.baseFeePerGas }),
    transaction_count: String(transactionCount),
    ...(block.mixHash !== null && { mix_hash: block.mixHash }),
    ...(block.withdrawalsRoot !== null && { withdrawals_root: block.withdrawalsRoot }),
    ...(block.withdrawals !== null && {
      withdrawals: block.withdrawals.map(({ validatorIndex, ...rest }) => ({
        ...rest,
        validator_index: validatorIndex,
      })),
    }),
    ...(block.blobGasUsed !== null && { blob_gas_used: block.blobGasUsed }),
    ...(block.excessBlobGas !== null && { excess_blob_gas: block.excessBlobGas }),
    ...(block.parentBeaconBlockRoot !== null && { parent_beacon_block_root: block.parentBeaconBlockRoot }),
    ...(block.requestsHash !== null && { requests_hash: block.requestsHash }),
  };
}
