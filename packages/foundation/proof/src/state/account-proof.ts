import { type Address, type Hash, isObject, keccak256, keccak256Hex, parseHash } from '@chainstead/core';
import { checkHeaderHash } from '../blocks/header-hash.ts';
import { hexOf, type RlpItem, readRlpItem, readRlpList } from '../rlp/read-rlp.ts';
import { hexToBytes, InvalidHexBytesError } from '../rlp/rlp-text.ts';
import { InvalidStateProofError } from '../state-proof-error.ts';
import { EMPTY_TRIE_ROOT } from '../tries/ordered-trie.ts';
import { NODE_BYTES_MAX, readTrieProof } from '../tries/trie-proof.ts';

export interface ProvenAccount {
  /** False: the other members are defaults. */
  readonly exists: boolean;
  readonly nonce: bigint;
  /** Wei. */
  readonly balance: bigint;
  readonly storageHash: Hash;
  readonly codeHash: Hash;
  /** As requested; 0 if never written. */
  readonly slots: readonly bigint[];
}

const ACCOUNT_MEMBERS = 4;
const NONCE_BYTES_MAX = 8;
const WORD_BYTES = 32;
const NODE_TEXT_MAX = 2 + 2 * NODE_BYTES_MAX;
const EMPTY_CODE_HASH = keccak256Hex(Buffer.alloc(0));

/** EIP-1186, by a checked header's state root. @throws InvalidStateProofError */
export function verifyAccountProof(
  answer: unknown,
  question: { readonly stateRoot: Hash; readonly address: Address; readonly slots: readonly Hash[] },
): ProvenAccount {
  const { stateRoot, address, slots } = question;
  const given = objectOf(answer, 'the answer');
  if (String(given.address).toLowerCase() !== address)
    throw new InvalidStateProofError('other-key', `it is of ${shown(given.address)}`);
  const leaf = readTrieProof(stateRoot, keccak256(hexToBytes(address)), nodesOf(given.accountProof));
  const account = leaf === null ? ABSENT : readAccount(leaf);
  agree('balance', given.balance, account.balance);
  agree('nonce', given.nonce, account.nonce);
  // For a missing account, nodes return 0 or an empty one's values.
  if (account.exists) {
    agree('storageHash', given.storageHash, BigInt(account.storageHash));
    agree('codeHash', given.codeHash, BigInt(account.codeHash));
  }
  return { ...account, slots: readSlots(given.storageProof, account.storageHash, slots) };
}

const ABSENT: Omit<ProvenAccount, 'slots'> = {
  exists: false,
  nonce: 0n,
  balance: 0n,
  storageHash: EMPTY_TRIE_ROOT,
  codeHash: EMPTY_CODE_HASH,
};

function readAccount(leaf: Buffer): Omit<ProvenAccount, 'slots'> {
  const members = readRlpList(leaf);
  const [nonce, balance, storageHash, codeHash] = members ?? [];
  if (
    members?.length !== ACCOUNT_MEMBERS ||
    members.some(({ isList }) => isList) ||
    storageHash?.payload.length !== WORD_BYTES ||
    codeHash?.payload.length !== WORD_BYTES
  )
    throw new InvalidStateProofError(
      'account-encoding',
      'an account is not nonce, balance, storage root and code hash',
    );
  return {
    exists: true,
    nonce: integerOf(nonce, NONCE_BYTES_MAX),
    balance: integerOf(balance, WORD_BYTES),
    storageHash: parseHash(hexOf(storageHash)),
    codeHash: parseHash(hexOf(codeHash)),
  };
}

function readSlots(given: unknown, storageHash: Hash, slots: readonly Hash[]): bigint[] {
  const proofs = Array.isArray(given) ? given : [];
  const { length } = proofs;
  if (length !== slots.length)
    throw new InvalidStateProofError(
      'other-key',
      `${length} slots are proven, but ${slots.length} were requested`,
    );
  return slots.map((slot, index) => {
    const proof = objectOf(proofs[index], 'a proof of storage');
    if (numberOf(proof.key) !== BigInt(slot))
      throw new InvalidStateProofError(
        'other-key',
        `slot ${shown(proof.key)} is proven, but ${slot} was requested`,
      );
    const leaf = readTrieProof(storageHash, keccak256(hexToBytes(slot)), nodesOf(proof.proof));
    const value = leaf === null ? 0n : integerOf(readRlpItem(leaf) ?? undefined, WORD_BYTES);
    agree(`slot ${slot}`, proof.value, value);
    return value;
  });
}

function integerOf(item: RlpItem | undefined, bytesMax: number): bigint {
  if (item === undefined || item.isList || item.payload.length > bytesMax || item.payload[0] === 0)
    throw new InvalidStateProofError('malformed', 'a number of the trie is not in its one encoding');
  return item.payload.length === 0 ? 0n : BigInt(`0x${item.payload.toString('hex')}`);
}

function agree(member: string, said: unknown, proven: bigint): void {
  if (numberOf(said) === proven) return;
  throw new InvalidStateProofError(
    'contradiction',
    `${member} is said to be ${shown(said)} and proven to be ${proven}`,
  );
}

const HEX_NUMBER = /^0x[0-9a-f]{0,64}$/i;

function numberOf(said: unknown): bigint | null {
  if (typeof said !== 'string' || !HEX_NUMBER.test(said)) return null;
  return said.length === 2 ? 0n : BigInt(said);
}

function nodesOf(given: unknown): Buffer[] {
  if (!Array.isArray(given)) throw new InvalidStateProofError('malformed', 'a proof is no list of nodes');
  return given.map((node: unknown) => {
    if (typeof node !== 'string' || node.length > NODE_TEXT_MAX)
      throw new InvalidStateProofError('malformed', 'a node is no text, or longer than any node');
    try {
      return hexToBytes(node);
    } catch (error) {
      if (error instanceof InvalidHexBytesError) throw new InvalidStateProofError('malformed', error.message);
      throw error;
    }
  });
}

function objectOf(given: unknown, what: string): Readonly<Record<string, unknown>> {
  if (isObject(given)) return given;
  throw new InvalidStateProofError('malformed', `${what} is no object`);
}

function shown(given: unknown): string {
  return (JSON.stringify(given) ?? 'nothing').slice(0, 100);
}

export type CommittedStateRoot =
  | { readonly result: 'verified'; readonly stateRoot: Hash }
  | { readonly result: 'unchecked' }
  | { readonly result: 'mismatch' };

/** @throws InvalidHexBytesError, SyntaxError */
export function committedStateRoot(raw: Readonly<Record<string, unknown>>, blockHash: Hash): CommittedStateRoot {
  const { result } = checkHeaderHash(raw, blockHash);
  return result === 'verified' ? { result, stateRoot: parseHash(raw.stateRoot) } : { result };
}
