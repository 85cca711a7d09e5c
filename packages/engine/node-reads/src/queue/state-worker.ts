import type { Chain } from '@chainstead/chains';
import {
  ChainsteadError,
  type Clock,
  counter,
  defineMetrics,
  type Logger,
  type Registry,
  sleepUnlessAborted,
} from '@chainstead/core';
import { type Database, type RiskyWork, sql, UNWRITTEN, type WorkJournal } from '@chainstead/db';
import type { DueWork } from '@chainstead/jobs/worker';
import type { UpstreamPool } from '@chainstead/rpc';
import { StateNotArchivedError } from '../state-error.ts';
import type { StateReader, StateReadingContext } from '../state-kind.ts';
import {
  DUE_QUESTIONS,
  failedSettlement,
  forgetQuestions,
  type NodeQuestion,
  type Settlement,
  STATE_WORK,
  settleQuestion,
} from './question-rows.ts';

export interface StateWorkerOptions {
  readonly database: Database;
  readonly chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[];
  readonly readers: readonly StateReader[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly journal?: Pick<WorkJournal, 'run'>;
}

const CONCURRENCY = { quick: 16, slow: 2 } as const;
const LEASE_MS = 5_000;
const RETRY_SECONDS = 1;
/** A request waits: longer readings are aborted. */
const QUESTION_MS_MAX = 30_000;
/** A node behind a load balancer may lack a block that another one gave a moment ago. */
const ATTEMPTS_MAX = 3;
const PAUSE_MS = 250;

export const createStateMetrics = defineMetrics('chainstead', {
  stateQuestions: counter(
    'Number of state reads queued by requests, by kind and outcome: answered, not-archived (no upstream has the state of the block), failed',
    ['chain', 'kind', 'outcome'],
  ),
});

export function addStateReads(dueWork: Pick<DueWork, 'add'>, options: StateWorkerOptions): void {
  const { database, clock, logger, journal = UNWRITTEN } = options;
  const readers = new Map(options.readers.map((reader) => [reader.kind.name, reader]));
  const { stateQuestions } = createStateMetrics(options.metrics);

  async function read(context: StateReadingContext, row: NodeQuestion, signal: AbortSignal): Promise<unknown> {
    const reader = readers.get(row.kind);
    if (reader === undefined) throw new Error(`No reader serves node reads of the kind ${row.kind}`);
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
    row: NodeQuestion,
    ending: AbortSignal,
  ): Promise<{ readonly settlement: Settlement; readonly outcome: string }> {
    const { chain } = context;
    const signal = AbortSignal.any([ending, AbortSignal.timeout(QUESTION_MS_MAX)]);
    try {
      const reader = readers.get(row.kind);
      const origin = reader?.kind.originOf?.(reader.kind.question.parse(row.question));
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
        'State read failed',
      );
      const settlement = failedSettlement(error, chain, signal.aborted);
      return { settlement, outcome: error instanceof StateNotArchivedError ? 'not-archived' : 'failed' };
    }
  }

  const slow = options.readers.filter(({ kind }) => kind.isSlow === true).map(({ kind }) => `'${kind.name}'`);
  const isSlow = `kind = ANY (ARRAY[${slow.join(', ')}]::text[])`;
  for (const { chain, pool } of options.chains) {
    const context: StateReadingContext = { chain, pool, database, clock, logger };
    for (const pace of ['quick', 'slow'] as const)
      dueWork.add<NodeQuestion>({
        name: STATE_WORK[pace],
        chain,
        table: { ...DUE_QUESTIONS, isOpen: pace === 'slow' ? isSlow : `NOT ${isSlow}` },
        returning: sql`work.key, work.kind, work.question`,
        concurrency: CONCURRENCY[pace],
        leaseMs: LEASE_MS,
        async perform(claims, signal) {
          for (const claim of claims) {
            const { settlement, outcome } = await settlementOf(context, claim.row, signal);
            await settleQuestion(database, claim, settlement);
            stateQuestions.inc({ chain: chain.key, kind: claim.row.kind, outcome });
          }
        },
        retrySeconds: () => RETRY_SECONDS,
        ...(pace === 'slow' && { tidy: () => forgetQuestions(database, chain.id) }),
      });
  }
}
