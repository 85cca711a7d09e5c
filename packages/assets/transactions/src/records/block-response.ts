import type { Chain } from '@chainstead/chains';
import { each, view, wire } from '@chainstead/http';
import { beaconNetwork } from '@chainstead/proof';
import type { BlockRecord } from './block-record.ts';
import { bytes } from './internal-transaction-response.ts';
import {
  blockTransactionView,
  markFields,
  type RelatedToTransactions,
  second,
  type shownMarks,
  type TransactionInBlock,
} from './transaction-response.ts';

const { address, digits, hash } = wire;

const withdrawalView = view('BlockWithdrawal', (item: NonNullable<BlockRecord['withdrawals']>[number]) => item, {
  index: digits({ example: '0' }),
  address: address(),
  amount: digits({ example: '32000000000', description: 'Gwei' }),
  validator_index: digits({ example: '1' }, 'validatorIndex'),
});

const UNKNOWN = '0';

/** Without fields that some chains lack. docs/api/blocks.md#blocks */
export const blockView = view(
  'Block',
  (
    chain: Pick<Chain, 'id'>,
    block: BlockRecord,
    shown: readonly TransactionInBlock[],
    related: RelatedToTransactions,
    marks: ReturnType<typeof shownMarks>,
  ) => {
    const { mergeBlock = Number.POSITIVE_INFINITY, finalDifficulty } = beaconNetwork(chain.id) ?? {};
    const merged = block.number < mergeBlock ? UNKNOWN : String(finalDifficulty);
    return { ...block, ...marks, merged, shown, related };
  },
  {
    timestamp: second({ example: '2021-05-07T11:08:35.000Z' }),
    number: digits({ example: '12386788' }, ({ number }) => String(number)),
    hash: hash(),
    parent_hash: hash.of('parentHash'),
    nonce: bytes.orNull(),
    sha3_uncles: hash.orNull.of('sha3Uncles'),
    logs_bloom: bytes.orNull.of('logsBloom'),
    transactions_root: hash.orNull.of('transactionsRoot'),
    state_root: hash.orNull.of('stateRoot'),
    receipts_root: hash.orNull.of('receiptsRoot'),
    miner: address(),
    difficulty: digits({ example: '7253857437305950' }),
    total_difficulty: digits(
      { example: '24325637817906576196890', description: '0 if no node returns it' },
      ({ totalDifficulty, merged }) => totalDifficulty ?? merged,
    ),
    size: digits({ example: '61271', description: 'Bytes. 0 if no node returns it' }),
    extra_data: bytes.orNull.of('extraData'),
    gas_limit: digits({ example: '14977947' }, 'gasLimit'),
    gas_used: digits({ example: '14964688' }, 'gasUsed'),
    base_fee_per_gas: digits.orAbsent(
      { example: '44738542107', description: 'In wei. Since the London fork' },
      'baseFeePerGas',
    ),
    transaction_count: digits({ example: '252' }, ({ shown }) => String(shown.length)),
    mix_hash: hash.orAbsent.of('mixHash'),
    withdrawals_root: hash.orAbsent.of('withdrawalsRoot'),
    withdrawals: each(withdrawalView).orAbsent(),
    blob_gas_used: digits.orAbsent({ example: '131072' }, 'blobGasUsed'),
    excess_blob_gas: digits.orAbsent({ example: '0' }, 'excessBlobGas'),
    parent_beacon_block_root: hash.orAbsent.of('parentBeaconBlockRoot'),
    requests_hash: hash.orAbsent.of('requestsHash'),
    transactions: wire.wire(blockTransactionView.schema.array())(({ shown, related }) =>
      shown.map((transaction) => blockTransactionView.show(transaction, related)),
    ),
    ...markFields,
  },
);
