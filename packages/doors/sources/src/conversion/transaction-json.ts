import { checkTransactionHash } from '@chainstead/proof';
import { bytes, type Form, type Json, listOf, objectOf, quantity, recipient } from './forms.ts';

const accessEntry = objectOf({ address: bytes, storageKeys: listOf(bytes) });
const authorization = objectOf({
  chainId: quantity,
  address: bytes,
  nonce: quantity,
  yParity: quantity,
  v: quantity,
  r: quantity,
  s: quantity,
});

/** `r` and `s` too are quantities at nodes: sources leave out zeros in front, or pad. */
const TRANSACTION_FORMS: Readonly<Record<string, Form>> = {
  type: quantity,
  chainId: quantity,
  nonce: quantity,
  gas: quantity,
  gasPrice: quantity,
  maxFeePerGas: quantity,
  maxPriorityFeePerGas: quantity,
  maxFeePerBlobGas: quantity,
  blobVersionedHashes: listOf(bytes),
  accessList: listOf(accessEntry),
  authorizationList: listOf(authorization),
  yParity: quantity,
  to: recipient,
  value: quantity,
  input: bytes,
  r: quantity,
  s: quantity,
  v: quantity,
  hash: bytes,
  from: bytes,
  mint: quantity,
  sourceHash: bytes,
  feeCurrency: bytes,
};

const toTransaction = objectOf(TRANSACTION_FORMS);

/** First types that have the field. Sources send empty lists for others. */
const OWN_FIELDS: Readonly<Record<string, readonly number[]>> = {
  accessList: [1, 2, 3, 4, 0x7b],
  yParity: [1, 2, 3, 4, 0x7b],
  maxFeePerGas: [2, 3, 4, 0x7b],
  maxPriorityFeePerGas: [2, 3, 4, 0x7b],
  maxFeePerBlobGas: [3],
  blobVersionedHashes: [3],
  authorizationList: [4],
  feeCurrency: [0x7b],
};

const CALL = ['hash', 'from', 'gas', 'value', 'input'];
const SIGNED = [...CALL, 'nonce', 'v', 'r', 's'];
const FEE_MARKET = [...SIGNED, 'chainId', 'maxFeePerGas', 'maxPriorityFeePerGas', 'accessList'];

/** Members that the encoding of a type has. Arbitrum's have more than any source shows. */
const ENCODED: ReadonlyMap<number, readonly string[]> = new Map([
  [0, [...SIGNED, 'gasPrice']],
  [1, [...SIGNED, 'gasPrice', 'chainId', 'accessList']],
  [2, FEE_MARKET],
  [3, [...FEE_MARKET, 'maxFeePerBlobGas', 'blobVersionedHashes']],
  [4, [...FEE_MARKET, 'authorizationList']],
  [0x64, [...CALL, 'chainId', 'requestId']],
  [0x65, [...CALL, 'chainId', 'nonce', 'maxFeePerGas']],
  [0x66, [...CALL, 'chainId', 'maxFeePerGas', 'requestId']],
  [0x68, [...CALL, 'chainId', 'nonce', 'maxFeePerGas', 'ticketId']],
  [0x69, [...CALL, 'chainId', 'maxFeePerGas', 'requestId']],
  [0x6a, [...CALL, 'chainId']],
  [0x7b, [...FEE_MARKET, 'feeCurrency']],
  [0x7e, [...CALL, 'sourceHash']],
]);

const ARBITRUM_UNSIGNED = new Set([0x65, 0x6a]);
const DEPOSIT_TYPE = 0x7e;

export interface ConvertedTransaction {
  readonly json: Json;
  readonly type: number;
  /** Member without which the hash can't be recomputed; null: none. */
  readonly lack: string | null;
}

/** In the JSON form of a node. @throws MalformedAnswerError */
export function transactionJson(row: Json, place: Json): ConvertedTransaction {
  const given = toTransaction(row, 'transaction') as Record<string, unknown>;
  const type = given.type === undefined ? inferredType(given) : Number(given.type);
  given.type = `0x${type.toString(16)}`;
  const isEthereum = ENCODED.has(type);
  for (const [name, types] of Object.entries(OWN_FIELDS))
    if (isEthereum && given[name] !== undefined && !types.includes(type)) {
      // Arbitrum's unsigned types have a fee limit.
      if (!(name === 'maxFeePerGas' && type >= 0x64 && type <= 0x6a)) delete given[name];
    }
  if (given.yParity === undefined && OWN_FIELDS.yParity?.includes(type) === true && isParity(given.v))
    given.yParity = given.v;
  if (given.v === undefined && given.yParity !== undefined) given.v = given.yParity;
  if (given.to === undefined) given.to = null;
  const { lack, json } = withAccessList({ ...given, ...place }, type);
  return { json, type, lack };
}

/** An access list that the source lacks is empty in most transactions: the hash proves it. */
function withAccessList(json: Json, type: number): { readonly json: Json; readonly lack: string | null } {
  const required = ENCODED.get(type);
  if (required === undefined) return { json, lack: `type ${type}` };
  const missing = required.find((name) => json[name] === undefined);
  if (missing === undefined) {
    const isGuess = type === DEPOSIT_TYPE || ARBITRUM_UNSIGNED.has(type);
    // A deposit before Regolith may have `isSystemTx`, which no source has.
    return { json, lack: isGuess && !hasItsHash(json) ? 'isSystemTx' : null };
  }
  if (missing !== 'accessList') return { json, lack: missing };
  const guess = { ...json, accessList: [] };
  return hasItsHash(guess) ? { json: guess, lack: null } : { json, lack: missing };
}

function hasItsHash(json: Json): boolean {
  return checkTransactionHash(json).result === 'verified';
}

/** Old archives have no type. */
function inferredType({ maxFeePerGas, accessList, sourceHash }: Json): number {
  if (sourceHash !== undefined) return DEPOSIT_TYPE;
  if (maxFeePerGas !== undefined) return 2;
  return Array.isArray(accessList) && accessList.length > 0 ? 1 : 0;
}

function isParity(v: unknown): boolean {
  return v === '0x0' || v === '0x1';
}
