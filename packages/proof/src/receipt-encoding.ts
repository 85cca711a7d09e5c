import type { Log, Receipt } from '@chainstead/core';
import { addLogsToBloom, BLOOM_BYTES } from './bloom.ts';
import { hexByteLength, hexToBytes, writeHexBytes } from './hex-bytes.ts';
import { encodedLength, encodeString, integerBytes, LIST_BASE, STRING_BASE, writeHeader } from './rlp.ts';

const ADDRESS_BYTES = 20;
const TOPIC_BYTES = 32;
const ROOT_TEXT_LENGTH = 66;
const BLOOM_STRING_LENGTH = 3 + BLOOM_BYTES;
const BLOOM_TEXT_LENGTH = 2 + 2 * BLOOM_BYTES;
const DEPOSIT_TYPE = 0x7e;

/** Where a receipt's bloom is taken from: its logs, or what the node shows (some nodes fill it in when they are asked). */
export type BloomSource = 'computed' | 'given';

/**
 * The bytes that the receipts trie holds for a receipt: RLP [status or root, cumulativeGasUsed, bloom, logs], behind
 * the type byte when it has one (EIP-2718). The bloom is computed from the logs, or taken from the answer where asked for
 * and there.
 * @throws InvalidHexBytesError when a field is not hexadecimal of the right size.
 */
export function encodeReceipt(receipt: Receipt, bloom: BloomSource = 'computed'): Buffer {
  const outcome = encodeString(outcomeBytes(receipt));
  const gas = encodeString(integerBytes(receipt.cumulativeGasUsed));
  const deposit = depositFields(receipt);
  const logLengths = receipt.logs.map(logPayloadLength);
  const logsLength = logLengths.reduce((sum, length) => sum + encodedLength(length), 0);
  const payloadLength =
    outcome.length + gas.length + BLOOM_STRING_LENGTH + encodedLength(logsLength) + (deposit?.length ?? 0);
  const typeLength = receipt.type === 0 ? 0 : 1;

  const bytes = Buffer.allocUnsafe(typeLength + encodedLength(payloadLength));
  if (typeLength === 1) bytes[0] = receipt.type;
  let offset = writeHeader(bytes, typeLength, LIST_BASE, payloadLength);
  offset = writeBytes(bytes, offset, outcome);
  offset = writeBytes(bytes, offset, gas);
  offset = writeHeader(bytes, offset, STRING_BASE, BLOOM_BYTES);
  writeBloom(bytes, offset, receipt, bloom);
  offset = writeHeader(bytes, offset + BLOOM_BYTES, LIST_BASE, logsLength);
  receipt.logs.forEach((log, index) => {
    offset = writeLog(bytes, offset, log, logLengths[index] ?? 0);
  });
  if (deposit !== null) writeBytes(bytes, offset, deposit);
  return bytes;
}

function writeBloom(bytes: Buffer, offset: number, receipt: Receipt, source: BloomSource): void {
  const given = receipt.raw.logsBloom;
  if (source === 'given' && typeof given === 'string' && given.length === BLOOM_TEXT_LENGTH) {
    writeHexBytes(bytes, offset, given, BLOOM_BYTES);
    return;
  }
  bytes.fill(0, offset, offset + BLOOM_BYTES);
  addLogsToBloom(bytes, offset, receipt.logs);
}

/**
 * Before Byzantium the state root after the transaction; since then (EIP-658) a status: 1, or nothing for a failure.
 * Nethermind shows both for old receipts, where only the root was hashed. A failure that has logs all the same was
 * altered on its way: the root doesn't vouch for it, and it is hashed as it states itself.
 */
function outcomeBytes(receipt: Receipt): Buffer {
  const { status, root } = receipt.raw;
  const contradictsItself = status === '0x0' && receipt.logs.length > 0;
  // Some nodes show an empty root for later receipts.
  if (typeof root === 'string' && root.length === ROOT_TEXT_LENGTH && !contradictsItself) return hexToBytes(root);
  return typeof status === 'string' ? integerBytes(BigInt(status)) : Buffer.alloc(0);
}

/**
 * OP Stack deposits hash their nonce and version from the Canyon fork on, which is when a version is shown; between
 * Regolith and Canyon the nonce is shown but not hashed (OP Stack specification, deposits).
 */
function depositFields(receipt: Receipt): Buffer | null {
  const { depositNonce, depositReceiptVersion } = receipt.raw;
  if (receipt.type !== DEPOSIT_TYPE || typeof depositReceiptVersion !== 'string') return null;
  const nonce = typeof depositNonce === 'string' ? BigInt(depositNonce) : 0n;
  return Buffer.concat([encodeString(integerBytes(nonce)), encodeString(integerBytes(BigInt(depositReceiptVersion)))]);
}

function logPayloadLength(log: Log): number {
  return 1 + ADDRESS_BYTES + encodedLength(log.topics.length * (1 + TOPIC_BYTES)) + dataLength(log.data);
}

function dataLength(data: string): number {
  const length = hexByteLength(data);
  return length === 1 ? encodeString(hexToBytes(data)).length : encodedLength(length);
}

function writeLog(target: Buffer, start: number, log: Log, payloadLength: number): number {
  let offset = writeHeader(target, start, LIST_BASE, payloadLength);
  offset = writeHeader(target, offset, STRING_BASE, ADDRESS_BYTES);
  offset = writeHexBytes(target, offset, log.address, ADDRESS_BYTES);
  offset = writeHeader(target, offset, LIST_BASE, log.topics.length * (1 + TOPIC_BYTES));
  for (const topic of log.topics) {
    offset = writeHeader(target, offset, STRING_BASE, TOPIC_BYTES);
    offset = writeHexBytes(target, offset, topic, TOPIC_BYTES);
  }
  const length = hexByteLength(log.data);
  if (length === 1) return writeBytes(target, offset, encodeString(hexToBytes(log.data)));
  offset = writeHeader(target, offset, STRING_BASE, length);
  return writeHexBytes(target, offset, log.data, length);
}

function writeBytes(target: Buffer, offset: number, bytes: Uint8Array): number {
  target.set(bytes, offset);
  return offset + bytes.length;
}
