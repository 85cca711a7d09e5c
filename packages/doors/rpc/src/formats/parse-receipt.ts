import type { Chain } from '@chainstead/chains';
import {
  type Block,
  type Hash,
  InvalidPrimitiveError,
  isObject,
  keccak256Hex,
  type Log,
  parseBigQuantity,
  parseHash,
  parsePlace,
  parseQuantity,
  type Receipt,
} from '@chainstead/core';
import { createLogsParser, MalformedAnswerError } from './parse-log.ts';
import { isEmptyBloom, standardReceipt } from './standard-form.ts';

const NO_LOGS: readonly Log[] = [];
const TYPE_MAX = 0xff;

/** Old recordings lack `type`, `from`, `to`. @throws MalformedAnswerError, InvalidPrimitiveError */
export function parseReceipt(json: unknown): Receipt {
  return createReceiptParser()(json);
}

/** For a block: values that logs repeat are checked and stored once. */
export function createReceiptParser(): (json: unknown) => Receipt {
  const parseItsLogs = createLogsParser();
  return (json) => {
    if (!isObject(json)) throw new MalformedAnswerError('A receipt is not an object', { type: typeof json });
    const raw = standardReceipt(json);
    return {
      transactionHash: parseHash(raw.transactionHash),
      transactionIndex: parsePlace(raw.transactionIndex, 'transaction index'),
      type: parseType(raw.type),
      cumulativeGasUsed: parseBigQuantity(raw.cumulativeGasUsed),
      logs: raw.logs === null && !contradictsNoLogs(raw.logsBloom) ? NO_LOGS : parseItsLogs(raw.logs),
      raw,
    };
  };
}

function contradictsNoLogs(bloom: unknown): boolean {
  return bloom !== undefined && bloom !== null && !isEmptyBloom(bloom);
}

function parseType(value: unknown): number {
  const type = value === undefined || value === null ? 0 : parseQuantity(value);
  if (type > TYPE_MAX) throw new InvalidPrimitiveError('quantity', value);
  return type;
}

interface MatchedReceipts {
  readonly receipts: readonly Receipt[];
  readonly missing: readonly Hash[];
}

/** A receipt belongs to another block than the requested one: the upstream is on another branch. */
export class OtherBlockError extends MalformedAnswerError {}

/** In block order. @throws MalformedAnswerError, OtherBlockError, InvalidPrimitiveError */
export function matchReceipts(
  block: Block,
  json: readonly unknown[],
  chain: Pick<Chain, 'receiptsRoot'>,
): MatchedReceipts {
  const { transactionHashes } = block;
  const placed = new Array<Receipt | undefined>(transactionHashes.length);
  const displaced = new Map<Hash, Receipt>();
  const parse = createReceiptParser();
  for (const entry of json) {
    if (entry === null) continue;
    const receipt = parse(entry);
    checkBlock(receipt, block);
    if (receipt.raw.logs === null) checkNoLogs(receipt, block, chain);
    if (transactionHashes[receipt.transactionIndex] === receipt.transactionHash)
      placed[receipt.transactionIndex] = receipt;
    else displaced.set(receipt.transactionHash, receipt);
  }
  const receipts: Receipt[] = [];
  const missing: Hash[] = [];
  transactionHashes.forEach((transactionHash, index) => {
    const receipt = placed[index] ?? displaced.get(transactionHash);
    if (receipt === undefined) {
      missing.push(transactionHash);
      return;
    }
    displaced.delete(transactionHash);
    // Chains whose headers commit to nothing may renumber receipts (Sei).
    if (receipt.transactionIndex !== index && chain.receiptsRoot !== 'none')
      throw new MalformedAnswerError(
        `Receipt ${transactionHash} has index ${receipt.transactionIndex}, not ${index}`,
      );
    receipts.push(receipt);
  });
  for (const extra of displaced.values()) {
    const isSystem = chain.receiptsRoot === 'hyperliquid' && extra.cumulativeGasUsed === 0n;
    if (!isSystem && !isOfBlock(extra, block) && extra.transactionHash !== stateSyncHash(block.header))
      throw new MalformedAnswerError(
        `Receipt ${extra.transactionHash} is of no transaction of block ${block.header.number}`,
      );
    receipts.push(extra);
  }
  return { receipts, missing };
}

/** Celo's before it became a rollup: logs of the block itself, in a receipt after those of the transactions. */
function isOfBlock(
  { transactionHash, transactionIndex }: Receipt,
  { header, transactionHashes }: Block,
): boolean {
  return transactionHash === header.hash && transactionIndex === transactionHashes.length;
}

function checkBlock(receipt: Receipt, block: Block): void {
  const { header } = block;
  const given = receipt.raw.blockHash;
  if (typeof given !== 'string' || given.toLowerCase() !== header.hash)
    throw new OtherBlockError(
      `A receipt of block ${header.number} names block ${String(given)}, not ${header.hash}`,
    );
  for (const log of receipt.logs)
    if (
      log.blockHash !== header.hash ||
      log.blockNumber !== header.number ||
      log.transactionHash !== receipt.transactionHash
    )
      throw new MalformedAnswerError(`A log of ${receipt.transactionHash} names another block or transaction`);
}

/** `null` means no logs: the receipt's bloom was checked, and a receipts root proves it too. */
function checkNoLogs(
  { raw, transactionHash }: Receipt,
  { header }: Block,
  chain: Pick<Chain, 'receiptsRoot'>,
): void {
  if (isEmptyBloom(raw.logsBloom) || isEmptyBloom(header.logsBloom) || chain.receiptsRoot !== 'none') return;
  throw new MalformedAnswerError(
    `The logs of ${transactionHash} are null, and nothing proves that the list is empty`,
  );
}

/** Bor: keccak("matic-bor-receipt-" ++ 8-byte big-endian number ++ block hash). */
export function stateSyncHash(header: { readonly number: number; readonly hash: Hash }): Hash {
  const preimage = Buffer.alloc(18 + 8 + 32);
  preimage.write('matic-bor-receipt-', 'ascii');
  preimage.writeBigUInt64BE(BigInt(header.number), 18);
  preimage.write(header.hash.slice(2), 26, 'hex');
  return keccak256Hex(preimage);
}
