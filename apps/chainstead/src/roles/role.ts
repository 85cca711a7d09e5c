import type { Clock, Logger, Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { OnWrongAnswer } from '@chainstead/rpc';
import type { UpstreamLimits } from '@chainstead/rpc/pool';
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
  readonly callLimits?: UpstreamLimits;
  readonly onWrongAnswer?: OnWrongAnswer;
  readonly place?: ProcessNumber;
}

export interface StopOptions {
  /** For one more request per connection of a replaced process. @default 0 */
  readonly idleGraceMs?: number;
}

export interface RunningRole {
  readonly address: string | null;
  /** Finishes requests, blocks and jobs at work first. */
  stop(options?: StopOptions): Promise<void>;
}

export type StartRole = (context: RoleContext) => Promise<RunningRole>;
