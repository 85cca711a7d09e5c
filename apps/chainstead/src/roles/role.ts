import type { Clock, Logger, Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { CallLimits, OnWrongAnswer } from '@chainstead/rpc';
import type { Configuration } from '../configuration/index.ts';
import type { ProcessNumber } from '../role-slot.ts';

/** What every role is made of. */
export interface RoleContext {
  readonly configuration: Configuration;
  readonly database: Database;
  /** Holds the password: never for logs. */
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock: Clock;
  /** What upstreams allow, for all that this start calls. Default: each pool has limits of its own. */
  readonly callLimits?: CallLimits;
  /** To be told by each pool of wrong answers. @default nobody is */
  readonly onWrongAnswer?: OnWrongAnswer;
  /** Which of the role's processes this is. @default the only one */
  readonly place?: ProcessNumber;
}

/** How a role ends. */
export interface StopOptions {
  /**
   * Of a process whose place another one has taken: how long clients may send one more request over a connection that they keep open,
   * which then tells them to close it. Closed at once, it may be just as they send one. Milliseconds. @default 0
   */
  readonly idleGraceMs?: number;
}

/** A role at work. */
export interface RunningRole {
  /** Where it listens; null for roles that don't. */
  readonly address: string | null;
  /** Ends gracefully: requests, blocks and jobs at work are finished first. */
  stop(options?: StopOptions): Promise<void>;
}

export type StartRole = (context: RoleContext) => Promise<RunningRole>;
