import { type Hash, parseHash } from '@chainstead/core';
import { checkHeaderHash } from '../blocks/header-hash.ts';

export type CommittedStateRoot =
  | { readonly result: 'verified'; readonly stateRoot: Hash }
  | { readonly result: 'unchecked' }
  | { readonly result: 'mismatch' };

/** @throws InvalidHexBytesError, SyntaxError */
export function committedStateRoot(raw: Readonly<Record<string, unknown>>, blockHash: Hash): CommittedStateRoot {
  const { result } = checkHeaderHash(raw, blockHash);
  return result === 'verified' ? { result, stateRoot: parseHash(raw.stateRoot) } : { result };
}
