import type { Chain } from '@chainstead/chains';
import { errorText, type Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { AskOptions, NodeReadQueue } from '../queue/node-read-queue.ts';
import { StateUnavailableError } from '../state-error.ts';
import type { StateKind } from '../state-kind.ts';

export interface ReadingContext {
  readonly database: Database;
  readonly nodeReads: NodeReadQueue;
  readonly logger: Logger;
}

const PART_MAX = 100;

/** A hundred per question, in one order, so that requests share it. @returns results in time */
export async function fetchInParts<Answer>(
  { nodeReads, logger }: Pick<ReadingContext, 'nodeReads' | 'logger'>,
  chain: Chain,
  kind: StateKind<{ items: string[] }, Answer>,
  { items, ...options }: AskOptions & { readonly items: readonly string[] },
): Promise<Answer[]> {
  const sorted = [...new Set(items)].sort();
  const parts: Promise<Answer | null>[] = [];
  for (let from = 0; from < sorted.length; from += PART_MAX)
    parts.push(nodeReads.request(chain, kind, { items: sorted.slice(from, from + PART_MAX) }, options));
  const answers: Answer[] = [];
  for (const part of await Promise.allSettled(parts))
    if (part.status === 'fulfilled') {
      if (part.value !== null) answers.push(part.value);
    } else if (part.reason instanceof StateUnavailableError)
      logger.debug({ chain: chain.key, kind: kind.name, error: errorText(part.reason) }, 'Left out of an answer');
    else throw part.reason;
  return answers;
}
