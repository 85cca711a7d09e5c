import type { Chain } from '@chainstead/chains';
import { parseHash } from '@chainstead/core';
import { checkHeaderHash, EMPTY_TRIE_ROOT } from '@chainstead/proof';
import { MalformedAnswerError } from '@chainstead/rpc';
import { bytes, type Form, headerNonce, type Json, listOf, objectOf, quantity } from './forms.ts';

const withdrawal = objectOf({ index: quantity, validatorIndex: quantity, address: bytes, amount: quantity });

const HEADER_FORMS: Readonly<Record<string, Form>> = {
  number: quantity,
  hash: bytes,
  parentHash: bytes,
  nonce: headerNonce,
  mixHash: bytes,
  sha3Uncles: bytes,
  logsBloom: bytes,
  transactionsRoot: bytes,
  stateRoot: bytes,
  receiptsRoot: bytes,
  miner: bytes,
  difficulty: quantity,
  totalDifficulty: quantity,
  extraData: bytes,
  size: quantity,
  gasLimit: quantity,
  gasUsed: quantity,
  timestamp: quantity,
  uncles: listOf(bytes),
  baseFeePerGas: quantity,
  withdrawalsRoot: bytes,
  withdrawals: listOf(withdrawal),
  blobGasUsed: quantity,
  excessBlobGas: quantity,
  parentBeaconBlockRoot: bytes,
  requestsHash: bytes,
  blockAccessListHash: bytes,
  slotNumber: quantity,
  l1BlockNumber: quantity,
  sendCount: quantity,
  sendRoot: bytes,
};

const REQUIRED = ['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot'].concat([
  'logsBloom',
  'difficulty',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
]);

const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';

const toHeader = objectOf(HEADER_FORMS);

/** Every block has them, and no source lacks them. */
const ROOTS = ['stateRoot', 'transactionsRoot', 'receiptsRoot'] as const;

/** In the JSON form of a node, without transactions. @throws MalformedAnswerError */
export function headerJson(row: Json): Json {
  const hidden = ROOTS.find((name) => row[name] === null);
  if (hidden !== undefined) throw new MalformedAnswerError(`Block ${String(row.number)} has null as ${hidden}`);
  const header = { ...(toHeader(row, 'header') as Json) };
  if (header.uncles === undefined && header.sha3Uncles === NO_UNCLES) Object.assign(header, { uncles: [] });
  if (header.withdrawals === undefined && header.withdrawalsRoot === EMPTY_TRIE_ROOT)
    Object.assign(header, { withdrawals: [] });
  return header;
}

/** Forks appended these fields; no source has all of them. */
const LATER_FIELDS = ['requestsHash', 'blockAccessListHash'] as const;
/** SHA-256 of nothing (EIP-7685): most blocks have no requests, on other chains than Ethereum none has. */
const NO_REQUESTS = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export interface CheckedHeader {
  /** With fields that its hash proves. */
  readonly header: Json;
  /** The field without which hash or withdrawals can't be checked; null: none. */
  readonly lack: string | null;
}

/** @param absent fields that the source never has. @throws MalformedAnswerError */
export function checkedHeader(header: Json, chain: Chain, absent: ReadonlySet<string>): CheckedHeader {
  const lacking = (lack: string | null): CheckedHeader => ({ header, lack });
  if (header.withdrawals === undefined && header.withdrawalsRoot !== undefined) return lacking('withdrawals');
  if (!chain.headerHash) return lacking(null);
  const missing = REQUIRED.find((name) => header[name] === undefined);
  if (missing !== undefined) return lacking(missing);
  const hasCancun = header.parentBeaconBlockRoot !== undefined;
  const later = LATER_FIELDS.find((name) => header[name] === undefined);
  if (!hasCancun || later === undefined || !absent.has(later) || !contradicts(header)) return lacking(null);
  // Without these fields, a fork looks like a lie.
  const guess = { ...header, requestsHash: NO_REQUESTS };
  return later === 'requestsHash' && !contradicts(guess) ? { header: guess, lack: null } : lacking(later);
}

function contradicts(header: Json): boolean {
  return checkHeaderHash(header, parseHash(header.hash)).result === 'mismatch';
}
