import type { Chain } from '@chainstead/chains';
import type { Clock, Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import type { z } from 'zod';

/** A kind of question: both sides parse by its schemas. Questions and results are plain JSON. */
export interface StateKind<Question = unknown, Answer = unknown> {
  /** Names it in the database and in metrics. */
  readonly name: string;
  readonly question: z.ZodType<Question>;
  readonly answer: z.ZodType<Answer>;
  /** Estimated node calls of a question, which count for the key whose request asks it. @default 1 */
  callsOf?(question: Question): number;
  /** Takes many calls, and no request waits for it: such questions never stand before others. @default false */
  readonly isSlow?: boolean;
  /** Whether an answer leaves as much to ask as there was before: who asks again at once would get it again. @default none does */
  isFruitless?(answer: Answer): boolean;
  /** What a question has in common with those that come to nothing for the same reason, as a text of theirs. @default each stands for itself */
  failsAlike?(question: Question): string;
  /** Author of the data that a question reads, if one untrusted author can write it for many questions. @default no particular one */
  originOf?(question: Question): string | undefined;
}

/** What a reader works with. */
export interface StateReadingContext {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Answers questions of one kind from a chain's nodes. */
export interface StateReader<Question = unknown, Answer = unknown> {
  readonly kind: StateKind<Question, Answer>;
  /**
   * May be run twice for one question. An error that is retryable has it run again, some times.
   * @throws StateNotArchivedError where no upstream has the state of a block
   */
  read(context: StateReadingContext, question: Question, signal: AbortSignal): Promise<Answer>;
}
