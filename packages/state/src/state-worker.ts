import type { Chain } from '@chainstead/chains';
import { ChainsteadError, type Clock, Counter, type Logger, type Registry, sleepUnlessAborted } from '@chainstead/core';
import { type Database, type RiskyWork, UNWRITTEN, type WorkJournal } from '@chainstead/db';
import type { Jobs } from '@chainstead/jobs';
import type { UpstreamPool } from '@chainstead/rpc';
import { openStateQueue, type StateJob } from './question-queue.ts';
import { forgetQuestions, openQuestion, type QuestionRow, type Settlement, settleQuestion } from './question-rows.ts';
import { failedSettlement } from './settlement-error.ts';
import { StateNotArchivedError } from './state-error.ts';
import type { StateReader, StateReadingContext } from './state-kind.ts';

export interface StateWorkerOptions {
  readonly database: Database;
  readonly jobs: Jobs;
  /** The chains whose state this process reads. */
  readonly chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[];
  readonly readers: readonly StateReader[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Where what might end the process is written down. Default: nowhere. */
  readonly journal?: Pick<WorkJournal, 'run'>;
  /** Of those who ask, too: StateQuestionsOptions. */
  readonly lockMs?: number;
}

/** Answers the questions that requests leave. */
export interface StateWorker {
  /** Begins to work. Queues are closed by `jobs.close()`. */
  start(): Promise<void>;
}

/** Most of the time goes by waiting for nodes. */
const CONCURRENCY = { quick: 16, slow: 2 } as const;
const SWEEP_EVERY_MS = 60_000;
/** Somebody waits: what takes longer is given up. Milliseconds. */
const QUESTION_MS_MAX = 30_000;
/** A node behind a load balancer may lack a block that another one gave a moment ago. */
const ATTEMPTS_MAX = 3;
const PAUSE_MS = 250;

export function createStateWorker(options: StateWorkerOptions): StateWorker {
  const { database, jobs, clock, logger, journal = UNWRITTEN } = options;
  const readers = new Map(options.readers.map((reader) => [reader.kind.name, reader]));
  const outcomes = new Counter({
    name: 'chainstead_state_questions_total',
    help: "Questions to a chain's state that requests left, by kind and outcome: answered, not-archived (no upstream keeps the block's state), failed",
    labelNames: ['chain', 'kind', 'outcome'],
    registers: [options.metrics],
  });

  function originOf({ kind, question }: QuestionRow): string | undefined {
    const reader = readers.get(kind);
    return reader?.kind.originOf?.(reader.kind.question.parse(question));
  }

  async function read(context: StateReadingContext, row: QuestionRow, signal: AbortSignal): Promise<unknown> {
    const reader = readers.get(row.kind);
    if (reader === undefined) throw new Error(`No reader answers questions of the kind ${row.kind}`);
    const question = reader.kind.question.parse(row.question);
    for (let attempt = 1; ; attempt++)
      try {
        return await reader.read(context, question, signal);
      } catch (error) {
        const mayPass = error instanceof ChainsteadError && error.retryable && attempt < ATTEMPTS_MAX;
        if (!mayPass || signal.aborted) throw error;
        await sleepUnlessAborted(clock, PAUSE_MS * attempt, signal);
      }
  }

  async function settlementOf(
    context: StateReadingContext,
    row: QuestionRow,
    ending: AbortSignal,
  ): Promise<{ readonly settlement: Settlement; readonly outcome: string }> {
    const { chain } = context;
    const signal = AbortSignal.any([ending, AbortSignal.timeout(QUESTION_MS_MAX)]);
    try {
      const origin = originOf(row);
      const work: RiskyWork = {
        kind: 'state',
        keys: [`${chain.id} ${row.key}`],
        ...(origin === undefined ? {} : { origin: `${chain.id} ${row.kind} ${origin}` }),
      };
      const answer = await journal.run(work, () => read(context, row, signal));
      return { settlement: { answer, errorCode: null, errorMessage: null }, outcome: 'answered' };
    } catch (error) {
      // The process ends: another one takes the question up.
      if (ending.aborted) throw error;
      const isExpected = error instanceof ChainsteadError;
      logger[isExpected ? 'debug' : 'error'](
        { chain: chain.key, kind: row.kind, err: error },
        'A question has no answer',
      );
      const settlement = failedSettlement(error, chain, signal.aborted);
      return { settlement, outcome: error instanceof StateNotArchivedError ? 'not-archived' : 'failed' };
    }
  }

  async function workOn(context: StateReadingContext, job: StateJob, signal: AbortSignal): Promise<void> {
    const { chain } = context;
    if (job.kind === 'sweep') return forgetQuestions(database, chain.id);
    const asked = { chainId: chain.id, ...job };
    const row = await openQuestion(database, asked);
    if (row === undefined) return;
    const { settlement, outcome } = await settlementOf(context, row, signal);
    await settleQuestion(database, asked, settlement);
    outcomes.inc({ chain: chain.key, kind: row.kind, outcome });
  }

  return {
    async start() {
      for (const { chain, pool } of options.chains) {
        const context: StateReadingContext = { chain, pool, database, clock, logger };
        for (const pace of ['quick', 'slow'] as const) {
          const queue = openStateQueue(jobs, chain, pace, options.lockMs);
          await queue.work(({ payload, signal }) => workOn(context, payload, signal), {
            concurrency: CONCURRENCY[pace],
          });
          if (pace === 'slow') await queue.schedule('sweep', { kind: 'sweep' }, { everyMs: SWEEP_EVERY_MS });
        }
      }
    },
  };
}
