import { createHash } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import type { JobQueue, Jobs } from '@chainstead/jobs';
import { z } from 'zod';
import type { StateKind } from './state-kind.ts';

const jobSchema = z.discriminatedUnion('kind', [
  /** Forgets old questions. */
  z.object({ kind: z.literal('sweep') }),
  z.object({
    kind: z.literal('question'),
    key: z.string(),
    /** When it was asked, as its row says: one that is asked again is another one. Microseconds since the Unix epoch. */
    askedAt: z.string().regex(/^\d+$/),
  }),
]);
export type StateJob = z.infer<typeof jobSchema>;

/** So that questions that take long don't stand before those that somebody waits for. */
export type StatePace = 'quick' | 'slow';

/** Somebody waits for what a worker had in hand when it died, and asks again: it is put back after one to three times this. Milliseconds. */
const LOCK_MS = 5_000;

/** Queues of a chain's own, so that a chain whose upstreams fail delays no other. A job names a row of `state_questions`. */
export function openStateQueue(jobs: Jobs, chain: Chain, pace: StatePace, lockMs = LOCK_MS): JobQueue<StateJob> {
  const name = pace === 'quick' ? `state-${chain.key}` : `state-slow-${chain.key}`;
  return jobs.queue<StateJob>(name, { schema: jobSchema, lockMs });
}

/** Of each time that a question is asked its own: while a job is at work, another one under its id is not taken. */
export function questionJobId({ key, askedAt }: { readonly key: string; readonly askedAt: string }): string {
  return `${key}@${askedAt}`;
}

/** The same question has the same key. @param question as its schema gives it, so that members have one order */
export function questionKey(kind: StateKind, question: unknown): string {
  return `${kind.name}:${createHash('sha256').update(JSON.stringify(question)).digest('hex')}`;
}
