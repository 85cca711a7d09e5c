/** Standard JSON-RPC form. Only unambiguous values are rewritten; readers refuse others. */
import { isQuantity, keccak256Hex, parseBigQuantity, toQuantity } from '@chainstead/core';
import { MalformedAnswerError } from './parse-log.ts';

type Json = Readonly<Record<string, unknown>>;

const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
const NO_BLOOM = /^0x0{512}$/i;
const HEADER_NONCE_DIGITS = 16;
const UPPER_CASE_X = 'X'.charCodeAt(0);

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const HEADER_QUANTITIES = words(`
  number timestamp difficulty totalDifficulty size gasLimit gasUsed baseFeePerGas blobGasUsed excessBlobGas slotNumber`);
const TRANSACTION_QUANTITIES = words(`
  type blockNumber transactionIndex nonce gas value gasPrice maxFeePerGas maxPriorityFeePerGas maxFeePerBlobGas
  chainId v yParity`);
const RECEIPT_QUANTITIES = words(`
  type blockNumber transactionIndex status gasUsed cumulativeGasUsed effectiveGasPrice
  depositNonce depositReceiptVersion blobGasUsed blobGasPrice`);

const UINT64_LENGTH = '0x'.length + 16;
const UINT256_LENGTH = '0x'.length + 64;
const QUOTED_MAX = 100;
/** Columns have 64 bits; all others 256. */
const NARROW = new Set(['nonce', 'gas', 'gasUsed', 'cumulativeGasUsed']);

/** Columns would refuse the value later, where the upstream is not known. */
class OversizedQuantityError extends MalformedAnswerError {
  constructor(field: string, given: string) {
    super(`The field ${field} is ${given}, which is more than it can hold`, { field, given });
  }
}

/** `null` becomes an empty list if hash or root proves it. */
export function standardHeader(given: Json): Json {
  const raw = lowerPrefixes(given, given.hash);
  const changes = new Map<string, unknown>();
  rewriteQuantities(raw, HEADER_QUANTITIES, changes);
  if (raw.uncles === null && isSame(raw.sha3Uncles, NO_UNCLES)) changes.set('uncles', []);
  if (raw.withdrawals === null && isSame(raw.withdrawalsRoot, EMPTY_ROOT)) changes.set('withdrawals', []);
  const { nonce } = raw;
  // Development nodes may write these eight bytes as a quantity.
  if (isQuantity(nonce) && (typeof nonce === 'number' || nonce.length < 2 + HEADER_NONCE_DIGITS))
    changes.set('nonce', `0x${parseBigQuantity(nonce).toString(16).padStart(HEADER_NONCE_DIGITS, '0')}`);
  return changed(raw, changes);
}

/** The hash proves whether a `null` access list is empty. */
export function standardTransaction(given: Json): Json {
  const raw = lowerPrefixes(given, given.hash);
  const changes = new Map<string, unknown>();
  rewriteQuantities(raw, TRANSACTION_QUANTITIES, changes);
  const type = changes.get('type') ?? raw.type;
  if (raw.accessList === null && type !== undefined && type !== null && type !== '0x0')
    changes.set('accessList', []);
  if (raw.to === '0x') changes.set('to', null);
  return changed(raw, changes);
}

export function standardReceipt(given: Json): Json {
  const raw = lowerPrefixes(given, given.transactionHash);
  const changes = new Map<string, unknown>();
  rewriteQuantities(raw, RECEIPT_QUANTITIES, changes);
  if (raw.to === '0x') changes.set('to', null);
  if (raw.contractAddress === '0x') changes.set('contractAddress', null);
  return changed(raw, changes);
}

export function isEmptyBlock(header: Json): boolean {
  return isSame(header.transactionsRoot, EMPTY_ROOT) || isSame(header.receiptsRoot, EMPTY_ROOT);
}

export function isEmptyBloom(bloom: unknown): boolean {
  return typeof bloom === 'string' && NO_BLOOM.test(bloom);
}

/** @throws OversizedQuantityError */
function rewriteQuantities(raw: Json, names: readonly string[], changes: Map<string, unknown>): void {
  for (const name of names) {
    const value = raw[name];
    if (value === undefined || value === null) continue;
    // For almost all values, the first characters decide.
    const isHex = typeof value === 'string' && value.length >= 3 && value.charCodeAt(1) !== UPPER_CASE_X;
    const hasRoom =
      isHex && (value.length <= UINT64_LENGTH || (value.length <= UINT256_LENGTH && !NARROW.has(name)));
    if (hasRoom && (value[2] !== '0' || value.length === 3)) continue;
    if (!isQuantity(value)) continue;
    const quantity = parseBigQuantity(value);
    if (quantity >= 2n ** (NARROW.has(name) ? 64n : 256n))
      throw new OversizedQuantityError(name, String(value).slice(0, QUOTED_MAX));
    changes.set(name, toQuantity(quantity));
  }
}

/** A node that writes one prefix in upper case writes all of them so. */
function lowerPrefixes(raw: Json, hash: unknown): Json {
  if (typeof hash !== 'string' || hash.charCodeAt(1) !== UPPER_CASE_X) return raw;
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [
      name,
      typeof value === 'string' && value.startsWith('0X') ? `0x${value.slice(2)}` : value,
    ]),
  );
}

function changed(raw: Json, changes: ReadonlyMap<string, unknown>): Json {
  return changes.size === 0 ? raw : { ...raw, ...Object.fromEntries(changes) };
}

function isSame(given: unknown, hash: string): boolean {
  return typeof given === 'string' && given.toLowerCase() === hash;
}

const RAW_TRANSACTION = /^0x(?:[0-9a-f]{2})+$/i;
/** EIP-7702. A legacy transaction's RLP begins with 0xc0 or more. */
const HIGHEST_TYPE = 4;
const BLOB_TYPE = 3;
const LIST_FROM = 0xc0;
const LONG_LIST_ABOVE = 0xf7;

/** Legacy, EIPs 2930, 1559, 4844 (without blobs), 7702; null for others. */
export function transactionHash(raw: unknown): string | null {
  if (typeof raw !== 'string' || !RAW_TRANSACTION.test(raw)) return null;
  const bytes = Buffer.from(raw.slice(2), 'hex');
  const type = bytes[0] ?? LIST_FROM;
  if (type > HIGHEST_TYPE && type < LIST_FROM) return null;
  // EIP-4844's network form: a list whose first item is the transaction.
  const list = type === BLOB_TYPE ? listStart(bytes, 1) : null;
  const body = list === null ? null : listStart(bytes, list.payload);
  if (list === null || body === null) return keccak256Hex(bytes);
  return keccak256Hex(
    Buffer.concat([bytes.subarray(0, 1), bytes.subarray(list.payload, body.payload + body.length)]),
  );
}

function listStart(bytes: Buffer, at: number): { readonly payload: number; readonly length: number } | null {
  const first = bytes[at];
  if (first === undefined || first < LIST_FROM) return null;
  if (first <= LONG_LIST_ABOVE) return { payload: at + 1, length: first - LIST_FROM };
  const size = first - LONG_LIST_ABOVE;
  if (size > 6 || at + 1 + size > bytes.length) return null;
  return { payload: at + 1 + size, length: bytes.readUIntBE(at + 1, size) };
}
