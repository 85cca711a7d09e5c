import type { Chain } from '@chainstead/chains';
import { isLowerHex, MAX_UINT256 } from '@chainstead/core';
import { checkWithdrawals } from '@chainstead/proof';
import { type Dataset, defineTable, type WholeBlock } from '@chainstead/sync/datasets';
import { blockRecord } from '../records/block-record.ts';
import { committedIn } from '../stored/datasets.ts';
import { transactionKey } from '../stored/transaction-key.ts';
import { type BlockHeaderRow, blockHeaders as table } from './schema.ts';
import { packWithdrawals } from './stored-header.ts';

export const blockHeaders: Dataset<BlockHeaderRow> = {
  name: 'block-headers',
  topics: () => [],
  table: defineTable(table),
  decode: () => [],
  wholeBlocks: {
    reads: ({ transactions: { mode } }) => (mode === 'all' ? ['transactions'] : []),
    storesSender: () => false,
    decode: (block, { chain }) => {
      const row = headerRow(block, chain);
      return row === null ? [] : [row];
    },
  },
};

/** Null: not exactly restorable, or withdrawals contradict the root. Nodes then serve it. */
function headerRow(block: WholeBlock, chain: Chain): BlockHeaderRow | null {
  const { header, transactions } = block;
  if (checkWithdrawals(header.raw, transactions[0]?.raw) === 'mismatch') return null;
  const { number, hash: _hash, timestamp: _timestamp, withdrawals: listed, ...fields } = blockRecord.show(header);
  const withdrawals = listed === null ? null : packWithdrawals(listed);
  if (withdrawals === null && listed !== null) return null;
  const columns = { ...fields, withdrawals };
  // 256-bit numbers, whole bytes: nodes may return anything that no encoding proves.
  const isStorable = Object.entries(columns).every(
    ([name, text]) => text === null || (AMOUNTS.has(name) ? BigInt(text) <= MAX_UINT256 : isBytes(text)),
  );
  if (!isStorable) return null;
  return {
    ...(columns as HeaderColumns),
    ...{ blockKey: transactionKey(header.hash), chainId: chain.id, blockNumber: number, blockHash: header.hash },
    transactionCount: committedIn(block, chain).length,
  };
}

type HeaderColumns = Omit<
  BlockHeaderRow,
  'blockKey' | 'chainId' | 'blockNumber' | 'blockHash' | 'transactionCount'
>;

const AMOUNTS: ReadonlySet<string> = new Set([
  ...(['gasLimit', 'gasUsed', 'baseFeePerGas', 'size'] as const),
  ...(['difficulty', 'totalDifficulty', 'blobGasUsed', 'excessBlobGas'] as const),
] satisfies (keyof HeaderColumns)[]);

function isBytes(text: string): boolean {
  return text.length % 2 === 0 && isLowerHex(text, text.length);
}
