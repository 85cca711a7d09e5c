import type { Reaction } from '../errors.ts';

/** One line of the table. All given conditions must hold. */
export interface ErrorRule {
  readonly source: string;
  readonly reaction: Reaction;
  readonly text?: RegExp;
  readonly codes?: readonly number[];
  readonly http?: readonly number[];
  readonly hasRevertData?: true;
  /** The EVM ran the call: it `failed`, or reached a `bound` of this node (one other upstream is tried). */
  readonly execution?: 'failed' | 'bound';
  readonly methods?: RegExp;
  /** Added to the number in the text: some report the distance between blocks instead of their count. */
  readonly adjust?: number;
  readonly assumeBlocks?: number;
  /** Whether the block existed but only archive nodes retain the requested data. */
  readonly isPruned?: boolean;
}
