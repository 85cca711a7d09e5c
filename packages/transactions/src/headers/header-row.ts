import type { Chain } from '@chainstead/chains';
import { type Address, type BlockHeader, type Hex, isLowerHex, MAX_UINT256 } from '@chainstead/core';
import { checkWithdrawals } from '@chainstead/proof';
import type { WholeBlock } from '@chainstead/sync';
import { type BlockRecord, blockRecord } from '../records/block-record.ts';
import { committedIn } from '../stored/datasets.ts';
import { blockKey } from './block-key.ts';
import { packWithdrawals } from './packed-withdrawals.ts';
import type { BlockHeaderRow } from './schema.ts';

/**
 * Returns the row of a block's header. Null if it can't be restored exactly, or its withdrawals don't match the
 * header's root: such a block has no row. On request it is read from the nodes, until one returns consistent data.
 */
export function headerRow(block: WholeBlock, chain: Chain): BlockHeaderRow | null {
  const { header, transactions } = block;
  if (checkWithdrawals(header.raw, transactions[0]?.raw) === 'mismatch') return null;
  const record = blockRecord(header);
  const withdrawals = record.withdrawals === null ? null : packWithdrawals(record.withdrawals);
  if (withdrawals === null && record.withdrawals !== null) return null;
  const row = rowOf(record, header, withdrawals);
  if (!isKeepable(row)) return null;
  return { ...row, chainId: chain.id, transactionCount: committedIn(block, chain).length };
}

type HeaderColumns = Omit<BlockHeaderRow, 'chainId' | 'transactionCount'>;

function rowOf(record: BlockRecord, { hash, parentHash }: BlockHeader, withdrawals: Hex | null): HeaderColumns {
  return {
    blockKey: blockKey(hash),
    blockNumber: record.number,
    blockHash: hash,
    parentHash,
    miner: record.miner as Address,
    gasLimit: record.gasLimit,
    gasUsed: record.gasUsed,
    baseFeePerGas: record.baseFeePerGas,
    size: record.size,
    difficulty: record.difficulty,
    totalDifficulty: record.totalDifficulty,
    blobGasUsed: record.blobGasUsed,
    excessBlobGas: record.excessBlobGas,
    stateRoot: record.stateRoot as Hex | null,
    transactionsRoot: record.transactionsRoot as Hex | null,
    receiptsRoot: record.receiptsRoot as Hex | null,
    sha3Uncles: record.sha3Uncles as Hex | null,
    mixHash: record.mixHash as Hex | null,
    nonce: record.nonce as Hex | null,
    withdrawalsRoot: record.withdrawalsRoot as Hex | null,
    parentBeaconBlockRoot: record.parentBeaconBlockRoot as Hex | null,
    requestsHash: record.requestsHash as Hex | null,
    extraData: record.extraData as Hex | null,
    logsBloom: record.logsBloom as Hex | null,
    withdrawals,
  };
}

/**
 * Whether columns can hold all of it: numbers of 256 bits, and whole bytes. Nodes may return anything that no encoding
 * proves.
 */
function isKeepable({ blockKey: _key, blockNumber: _number, ...row }: HeaderColumns): boolean {
  return Object.entries(row).every(
    ([name, text]) => text === null || (AMOUNTS.has(name) ? BigInt(text) <= MAX_UINT256 : isBytes(text)),
  );
}

const AMOUNTS: ReadonlySet<string> = new Set([
  'gasLimit',
  'gasUsed',
  'baseFeePerGas',
  'size',
  'difficulty',
  'totalDifficulty',
  'blobGasUsed',
  'excessBlobGas',
] satisfies (keyof HeaderColumns)[]);

function isBytes(text: string): boolean {
  return text.length % 2 === 0 && isLowerHex(text, text.length);
}
