import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import PQueue from 'p-queue';
import type { SubjectProjection } from '../dataset/projection.ts';
import { retryCommit } from '../rows/commit-retry.ts';
import { buildSubject, buildTogether, type SubjectProgress, type TogetherProgress } from './build-subjects.ts';
import type { ProjectionOf } from './counted-rows.ts';

/** A piece blocks the chain's commits, which must get half of the time. */
export interface BuildTurns {
  /** @param isBegun a piece was built before: too many rows to share one */
  nextPiece(
    chain: Chain,
    of: ProjectionOf<SubjectProjection>,
    subject: Address,
    isBegun: boolean,
  ): Promise<SubjectProgress>;
}

const SUBJECTS_TOGETHER = 200;

interface Waiting {
  readonly subject: Address;
  readonly reported: PromiseWithResolvers<SubjectProgress>;
  isAlone: boolean;
}

interface Line {
  readonly chain: Chain;
  readonly of: ProjectionOf<SubjectProjection>;
  readonly turns: PQueue;
  readonly waiting: Set<Waiting>;
}

export function createBuildTurns(database: Database): BuildTurns {
  const turnsOf = new Map<number, PQueue>();
  const lines = new Map<string, Line>();

  function lineOf(chain: Chain, of: ProjectionOf<SubjectProjection>): Line {
    const key = `${chain.id} ${of.state.name} ${of.state.version}`;
    const turns = turnsOf.get(chain.id) ?? new PQueue({ concurrency: 1 });
    const line = lines.get(key) ?? { chain, of, turns, waiting: new Set() };
    turnsOf.set(chain.id, turns);
    lines.set(key, line);
    return line;
  }

  function giveTurn(line: Line, first: Waiting): void {
    line.waiting.add(first);
    void line.turns.add(() => takeTurn(line, first));
  }
  async function takeTurn(line: Line, first: Waiting): Promise<void> {
    if (!line.waiting.has(first)) return;
    const started = performance.now();
    const others = first.isAlone ? [] : [...line.waiting].filter((other) => other !== first && !other.isAlone);
    const some = [first, ...others.slice(0, SUBJECTS_TOGETHER - 1)];
    for (const waiting of some) line.waiting.delete(waiting);
    await (some.length === 1 ? buildAlone(line, first) : buildSome(line, some));
    void line.turns.add(() => sleep(performance.now() - started), { priority: 1 });
  }

  async function buildAlone({ chain, of }: Line, { subject, reported }: Waiting): Promise<void> {
    try {
      reported.resolve(await retryCommit(() => buildSubject(database, chain, of, subject)));
    } catch (error) {
      reported.reject(error);
    }
  }

  async function buildSome(line: Line, some: readonly Waiting[]): Promise<void> {
    const { chain, of } = line;
    const subjects = some.map(({ subject }) => subject);
    const progress = await retryCommit(() => buildTogether(database, chain, of, subjects)).catch(
      (): ReadonlyMap<Address, TogetherProgress> =>
        new Map(subjects.map((subject) => [subject, 'alone'] as const)),
    );
    for (const [index, waiting] of some.entries()) {
      const reached = progress.get(waiting.subject);
      if (reached !== undefined && reached !== 'alone') {
        waiting.reported.resolve(reached);
        continue;
      }
      waiting.isAlone ||= reached === 'alone';
      if (index === 0) giveTurn(line, waiting);
      else line.waiting.add(waiting);
    }
  }

  return {
    nextPiece(chain, of, subject, isBegun) {
      const waiting = { subject, reported: Promise.withResolvers<SubjectProgress>(), isAlone: isBegun };
      giveTurn(lineOf(chain, of), waiting);
      return waiting.reported.promise;
    },
  };
}
