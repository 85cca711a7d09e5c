import type { Clock, Logger, Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { OnWrongAnswer, UpstreamLimits } from '@chainstead/rpc';
import type { Configuration } from '../configuration/index.ts';
import type { ProcessNumber } from '../shares/role-slot.ts';

export interface RoleContext {
  readonly configuration: Configuration;
  readonly database: Database;
  /** Holds the password: never for logs. */
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock: Clock;
  /** Upstream limits shared by all processes of this start. Default: each pool has its own limits. */
  readonly callLimits?: UpstreamLimits;
  /** Called by each pool for incorrect responses. @default none */
  readonly onWrongAnswer?: OnWrongAnswer;
  /** Which of the role's processes this is. @default the only one */
  readonly place?: ProcessNumber;
}

export interface StopOptions {
  /** Time for one more request per connection of a replaced process, whose response closes it. Milliseconds. @default 0 */
  readonly idleGraceMs?: number;
}

export interface RunningRole {
  /** Where it listens; null for roles that don't. */
  readonly address: string | null;
  /** Ends gracefully: requests, blocks and jobs at work are finished first. */
  stop(options?: StopOptions): Promise<void>;
}

export type StartRole = (context: RoleContext) => Promise<RunningRole>;
