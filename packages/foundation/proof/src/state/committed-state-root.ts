import { type Hash, parseHash } from '@chainstead/core';
import { checkHeaderHash } from '../blocks/header-hash.ts';

/** The state root that a block's hash commits to, or why it can't be determined. */
export type CommittedStateRoot =
  | { readonly result: 'verified'; readonly stateRoot: Hash }
  /** The header lacks a field, or has one of no known encoding. */
  | { readonly result: 'unchecked' }
  | { readonly result: 'mismatch' };

/** @throws InvalidHexBytesError, SyntaxError if a field is not hexadecimal */
export function committedStateRoot(raw: Readonly<Record<string, unknown>>, blockHash: Hash): CommittedStateRoot {
  const { result } = checkHeaderHash(raw, blockHash);
  return result === 'verified' ? { result, stateRoot: parseHash(raw.stateRoot) } : { result };
}
