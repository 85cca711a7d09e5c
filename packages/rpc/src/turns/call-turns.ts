import type { UpstreamConfig } from '../upstream-pool.ts';

/** How calls wait for their turn. */
export interface TurnOptions {
  /** Goes ahead of all that are not: heads before history. */
  readonly urgent?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Lets calls to one upstream go at the rate that its provider allows, whoever makes them. */
export interface CallPace {
  /** Null when so many calls may go at once; else a promise that resolves when they may. @throws what the signal aborts with */
  take(calls: number, options: TurnOptions): Promise<void> | null;
  /** Calls that wait for their turn here. */
  readonly waiting: number;
}

/** Bounds the requests in flight to one upstream, whoever makes them. */
export interface CallSlots {
  /** Null when a request may go at once; else a promise that resolves when it may. `leave` follows. @throws what the signal aborts with */
  enter(options: TurnOptions): Promise<void> | null;
  /** The request is over. */
  leave(): void;
  /** Requests that wait for their turn here. */
  readonly waiting: number;
}

/** The limits that an operator set for upstreams; null where there is none. Of the same upstream they are the same. */
export interface CallTurns {
  paceOf(upstream: Pick<UpstreamConfig, 'url' | 'requestsPerSecond'>): CallPace | null;
  /** Null also where each pool bounds its own requests. */
  slotsOf(upstream: Pick<UpstreamConfig, 'url' | 'concurrency'>): CallSlots | null;
}

/** What turns are asked for: for calls that wait and go first, that wait, that will probably be made in a moment. */
export const URGENCIES = ['urgent', 'normal', 'ahead'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** Grants turns to all who share one limit of an upstream. */
export interface TurnArbiter {
  join(options: JoinOptions): TurnMember;
}

export interface JoinOptions {
  /** Groups have the same share, however many are in each. */
  readonly group: string;
  /** So many more turns are there. */
  grant(turns: number): void;
}

export interface TurnMember {
  /** Asks for turns; a negative number takes back what was asked. */
  ask(turns: number, urgency: Urgency): void;
  /** Turns that were granted and are over, or not used. */
  giveBack(turns: number): void;
  /** What it asked for is forgotten, and what it held is free. */
  leave(): void;
}
