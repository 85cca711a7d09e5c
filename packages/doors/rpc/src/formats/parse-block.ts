import {
  type Block,
  type BlockHeader,
  type Hash,
  type Hex,
  isObject,
  parseHash,
  parsePlace,
} from '@chainstead/core';
import { MalformedAnswerError } from './parse-log.ts';
import { isEmptyBlock, standardHeader, standardTransaction } from './standard-form.ts';

const BLOOM = /^0x[0-9a-f]{512}$/;

/** `header.raw` is in standard form. @throws MalformedAnswerError, InvalidPrimitiveError */
export function parseBlock(json: unknown): Block {
  if (!isObject(json)) throw new MalformedAnswerError('A block is not an object', { type: typeof json });
  const raw = json;
  const header = parseHeader(raw);
  // Some nodes return null for no transactions.
  const list = raw.transactions === null && isEmptyBlock(raw) ? [] : raw.transactions;
  if (!Array.isArray(list)) throw new MalformedAnswerError('A block has no list of transactions');
  if (list.length === 0) return { header, transactionHashes: [], transactions: [] };
  const hashes = new Array<Hash>(list.length);
  const objects: Readonly<Record<string, unknown>>[] = [];
  for (let index = 0; index < list.length; index++) {
    const transaction: unknown = list[index];
    if (typeof transaction === 'object' && transaction !== null) {
      const object = standardTransaction(transaction as Record<string, unknown>);
      hashes[index] = parseHash(object.hash);
      objects.push(object);
    } else hashes[index] = parseHash(transaction);
  }
  if (objects.length !== 0 && objects.length !== list.length)
    throw new MalformedAnswerError('A block mixes transaction objects and hashes');
  return { header, transactionHashes: hashes, transactions: objects.length === 0 ? null : objects };
}

/** @throws MalformedAnswerError, InvalidPrimitiveError */
export function parseHeader(json: unknown): BlockHeader {
  if (!isObject(json)) throw new MalformedAnswerError('A block is not an object', { type: typeof json });
  const { transactions: _transactions, ...given } = json;
  const raw = standardHeader(given);
  const bloom = typeof raw.logsBloom === 'string' ? raw.logsBloom.toLowerCase() : '';
  return {
    number: parsePlace(raw.number, 'block number'),
    hash: parseHash(raw.hash),
    parentHash: parseHash(raw.parentHash),
    timestamp: parsePlace(raw.timestamp, 'timestamp'),
    logsBloom: BLOOM.test(bloom) ? (bloom as Hex) : null,
    receiptsRoot: typeof raw.receiptsRoot === 'string' ? parseHash(raw.receiptsRoot) : null,
    raw,
  };
}
