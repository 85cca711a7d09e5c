import type { Chain } from '@chainstead/chains';
import type { Clock, Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import type { z } from 'zod';

/** Both sides parse by its schemas. Questions and results are plain JSON. */
export interface StateKind<Question = unknown, Answer = unknown> {
  readonly name: string;
  readonly question: z.ZodType<Question>;
  readonly answer: z.ZodType<Answer>;
  /** Estimated node calls, which count for the key of the request. @default 1 */
  callsOf?(question: Question): number;
  /** No request waits for it: such questions never delay others. @default false */
  readonly isSlow?: boolean;
  /** A repetition would return the same useless result. @default none does */
  isFruitless?(answer: Answer): boolean;
  /** Equal for questions that fail for the same reason. @default each is separate */
  failsAlike?(question: Question): string;
  /** Author of the data, if one untrusted author can write it for many questions. */
  originOf?(question: Question): string | undefined;
}

export interface StateReadingContext {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface StateReader<Question = unknown, Answer = unknown> {
  readonly kind: StateKind<Question, Answer>;
  /** May run again for one question, also after a retryable error. @throws StateNotArchivedError */
  read(context: StateReadingContext, question: Question, signal: AbortSignal): Promise<Answer>;
}
