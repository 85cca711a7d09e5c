/**
 * How long an answer stays true: for ever (`immutable`: by hash); for ever once its block is final and until the head moves
 * before that (`block`); until the head moves (`head`); as long as the process runs (`constant`); never kept (`never`).
 */
export type Lifetime = 'immutable' | 'block' | 'head' | 'constant' | 'never';

/** What the gateway knows of a method. */
export interface MethodFacts {
  readonly name: string;
  readonly lifetime: Lifetime;
  /** Whether a second upstream may be asked while the first one takes its time. */
  readonly hedge: boolean;
  /** What a call costs of a key's rate, in units of the cheapest calls. */
  readonly weight: number;
  /** Place of the parameter that names a block (number, tag, or EIP-1898 object); null where there is none. */
  readonly blockParameter: number | null;
  /** Whether null means "does not exist" and another upstream is asked before it is believed. */
  readonly nullable: boolean;
}
