/** What is outside of the program: a node over a chain that grows, and a receiver of webhooks. One process, told over HTTP what to do. */

/** What the process is told, as its one argument in JSON. */
export interface WorldPlan {
  readonly seed: number;
  readonly chainId: number;
  /** Of all wallets, those that pages are asked of. */
  readonly wallets: number;
  /** Contracts of which each has a stream. */
  readonly streams: number;
  readonly transactionsPerBlock: number;
  readonly logsPerTransaction: number;
}

/** What it says when it serves: one line of JSON. */
export interface WorldReport {
  readonly nodeUrl: string;
  readonly controlUrl: string;
  readonly webhookUrl: string;
  /** Contracts to watch, in the order of their streams. */
  readonly watched: readonly string[];
  /** For pages. */
  readonly wallets: readonly string[];
  readonly collections: readonly string[];
}

/** `POST /watch`: whose webhooks come, and what they are signed with. */
export interface WatchOrder {
  readonly secret: string;
  /** In the order of `watched`. */
  readonly streamIds: readonly string[];
}

/** `POST /pace`: how fast the chain grows from now on. */
export interface PaceOrder {
  readonly blocksPerSecond: number;
  /** Mean seconds between reorganisations; 0: none. */
  readonly reorgEverySeconds: number;
}

/** `POST /look`: where the chain stands, seen from who has its blocks up to one. */
export interface LookOrder {
  readonly checkpoint: number;
}

export interface Look {
  readonly head: number;
  readonly headHash: string;
  /** Milliseconds since the block after the checkpoint was made; 0 at the head. */
  readonly lagMs: number;
}

/** `POST /take`: what happened since it was last asked. */
export interface WorldWindow {
  readonly mined: number;
  readonly transfers: number;
  readonly reorgs: number;
  /** Blocks that were due and not made, for this process had no time. */
  readonly skipped: number;
  readonly webhooks: number;
  /** From a block's making to the arrival of its unconfirmed webhooks, milliseconds. */
  readonly delaysMs: readonly number[];
  readonly repeated: number;
  readonly twice: number;
  readonly unasked: number;
  readonly orphaned: number;
  readonly badSignatures: number;
}

/** `POST /missing`: webhooks that have not come yet, of blocks up to one that were made at least so long ago. */
export interface MissingOrder {
  readonly upTo: number;
  readonly confirmations: number;
  readonly olderThanMs: number;
}

export interface Missing {
  readonly unconfirmed: number;
  readonly confirmed: number;
}
