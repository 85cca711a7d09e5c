import type { Reaction } from '../errors.ts';

export interface ErrorRule {
  readonly source: string;
  readonly reaction: Reaction;
  readonly text?: RegExp;
  readonly codes?: readonly number[];
  readonly http?: readonly number[];
  readonly hasRevertData?: true;
  /** `failed` in the EVM, or at a `bound` of this node (another is tried). */
  readonly execution?: 'failed' | 'bound';
  readonly methods?: RegExp;
  /** To the text's number: some report a distance, not a count. */
  readonly adjust?: number;
  readonly assumeBlocks?: number;
  /** Only archive nodes retain the data. */
  readonly isPruned?: boolean;
}
