import type { Log, Receipt } from '@chainstead/core';
import { STRING_BASE } from '../rlp/rlp.ts';
import {
  byteText,
  headerText,
  hexByteLength,
  InvalidHexBytesError,
  integerText,
  listText,
  stringText,
} from '../rlp/rlp-text.ts';
import { BLOOM_BYTES, logsBloom } from './bloom.ts';

const ADDRESS_BYTES = 20;
const TOPIC_BYTES = 32;
const ROOT_TEXT_LENGTH = 66;
const BLOOM_TEXT_LENGTH = 2 + 2 * BLOOM_BYTES;
const DEPOSIT_TYPE = 0x7e;

const ADDRESS_HEADER = headerText(STRING_BASE, ADDRESS_BYTES);
const TOPIC_HEADER = headerText(STRING_BASE, TOPIC_BYTES);
const BLOOM_HEADER = headerText(STRING_BASE, BLOOM_BYTES);

export type BloomSource = 'computed' | 'given';

/** EIP-2718, as text: a buffer per field takes twice as long. @throws InvalidHexBytesError */
export function encodeReceipt(receipt: Receipt, source: BloomSource = 'computed'): Buffer {
  const { logs, raw } = receipt;
  const { logsBloom: given } = raw;
  const isGiven = source === 'given' && typeof given === 'string' && given.length === BLOOM_TEXT_LENGTH;
  const text = listText(
    stringText(outcomeDigits(receipt)) +
      stringText(integerText(receipt.cumulativeGasUsed)) +
      BLOOM_HEADER +
      (isGiven ? digitsOf(given, BLOOM_BYTES) : logsBloom(logs).toString('hex')) +
      logsText(logs) +
      depositText(receipt),
  );
  const whole = receipt.type === 0 ? text : byteText(receipt.type) + text;
  const bytes = Buffer.from(whole, 'hex');
  if (bytes.length * 2 === whole.length) return bytes;
  const fields = [raw.root, given, ...logs.flatMap(({ address, topics, data }) => [address, ...topics, data])];
  throw new InvalidHexBytesError(fields.find((field) => typeof field === 'string' && !HEX.test(field)));
}

const HEX = /^0x[0-9a-f]*$/i;

/** Root before Byzantium; else, or if logs contradict the failure, the status (EIP-658). */
function outcomeDigits(receipt: Receipt): string {
  const { status, root } = receipt.raw;
  const contradictsItself = status === '0x0' && receipt.logs.length > 0;
  if (typeof root === 'string' && root.length === ROOT_TEXT_LENGTH && !contradictsItself)
    return digitsOf(root, TOPIC_BYTES);
  return typeof status === 'string' ? integerText(BigInt(status)) : '';
}

/** OP Stack deposits hash nonce and version since Canyon, when the version appears. */
function depositText(receipt: Receipt): string {
  const { depositNonce, depositReceiptVersion } = receipt.raw;
  if (receipt.type !== DEPOSIT_TYPE || typeof depositReceiptVersion !== 'string') return '';
  const nonce = typeof depositNonce === 'string' ? BigInt(depositNonce) : 0n;
  return stringText(integerText(nonce)) + stringText(integerText(BigInt(depositReceiptVersion)));
}

function logsText(logs: readonly Log[]): string {
  let all = '';
  for (const { address, topics, data } of logs) {
    let topicsText = '';
    for (const topic of topics) topicsText += TOPIC_HEADER + digitsOf(topic, TOPIC_BYTES);
    const dataText = stringText(digitsOf(data, hexByteLength(data)));
    all += listText(ADDRESS_HEADER + digitsOf(address, ADDRESS_BYTES) + listText(topicsText) + dataText);
  }
  return listText(all);
}

/** @throws InvalidHexBytesError */
function digitsOf(text: string, bytes: number): string {
  if (hexByteLength(text) !== bytes) throw new InvalidHexBytesError(text, bytes);
  return text.slice(2);
}
