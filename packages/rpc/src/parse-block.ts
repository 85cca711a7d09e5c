import { type Block, type BlockHeader, type Hash, type Hex, parseHash, parseQuantity } from '@chainstead/core';
import { MalformedAnswerError } from './parse-log.ts';

const BLOOM = /^0x[0-9a-f]{512}$/;

/**
 * A block of `eth_getBlockByNumber` or `eth_getBlockByHash`, with transaction objects or hashes only. Fields that only
 * some chains have (size, uncles, base fee) stay in `header.raw` as they came.
 * @throws MalformedAnswerError, InvalidPrimitiveError
 */
export function parseBlock(json: unknown): Block {
  const raw = toObject(json);
  const list = raw.transactions;
  if (!Array.isArray(list)) throw new MalformedAnswerError('A block has no list of transactions');
  const header = parseHeader(raw);
  if (list.length === 0) return { header, transactionHashes: [], transactions: [] };
  const hashes = new Array<Hash>(list.length);
  let objects = 0;
  for (let index = 0; index < list.length; index++) {
    const transaction: unknown = list[index];
    if (typeof transaction === 'object' && transaction !== null) {
      hashes[index] = parseHash((transaction as Record<string, unknown>).hash);
      objects++;
    } else hashes[index] = parseHash(transaction);
  }
  if (objects !== 0 && objects !== list.length)
    throw new MalformedAnswerError('A block mixes transaction objects and hashes');
  return { header, transactionHashes: hashes, transactions: objects === 0 ? null : list };
}

/**
 * The header of a block's JSON.
 * @throws MalformedAnswerError, InvalidPrimitiveError
 */
export function parseHeader(json: unknown): BlockHeader {
  const { transactions: _transactions, ...raw } = toObject(json);
  return {
    number: parseQuantity(raw.number),
    hash: parseHash(raw.hash),
    parentHash: parseHash(raw.parentHash),
    timestamp: parseQuantity(raw.timestamp),
    logsBloom: toBloom(raw.logsBloom),
    receiptsRoot: typeof raw.receiptsRoot === 'string' ? parseHash(raw.receiptsRoot) : null,
    raw,
  };
}

function toObject(json: unknown): Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new MalformedAnswerError('A block is not an object', { type: typeof json });
  return json as Record<string, unknown>;
}

function toBloom(value: unknown): Hex | null {
  if (typeof value !== 'string') return null;
  const lower = value.toLowerCase();
  return BLOOM.test(lower) ? (lower as Hex) : null;
}
