import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import PQueue from 'p-queue';
import { retryCommit } from '../commit-retry.ts';
import type { SubjectState } from '../dataset.ts';
import { buildSubject, buildTogether, type SubjectProgress, type TogetherProgress } from './build-subjects.ts';
import type { StateOf } from './counted-rows.ts';

/**
 * Builds subjects piece by piece, one transaction at a time of each chain, whoever is asked about: each holds up the commits of the chain, which
 * are to have half of the time. Those who wait for the same lock get it in turn, so that many at once would keep the follower waiting for all
 * of them. Subjects of the same state that wait for their first piece share one.
 */
export interface BuildTurns {
  /** @param isBegun whether a piece of the subject was built before: then it has too many rows to share one */
  nextPiece(chain: Chain, of: StateOf<SubjectState>, subject: Address, isBegun: boolean): Promise<SubjectProgress>;
}

/** In one piece, where they have few rows. */
const SUBJECTS_TOGETHER = 200;

/** A subject that waits for its next piece. It has a turn of its own, in which it is built unless another's turn did. */
interface Waiting {
  readonly subject: Address;
  readonly told: PromiseWithResolvers<SubjectProgress>;
  isAlone: boolean;
}

/** Who waits for the same state of a chain. */
interface Line {
  readonly chain: Chain;
  readonly of: StateOf<SubjectState>;
  readonly turns: PQueue;
  readonly waiting: Set<Waiting>;
}

export function createBuildTurns(database: Database): BuildTurns {
  const turnsOf = new Map<number, PQueue>();
  const lines = new Map<string, Line>();

  function lineOf(chain: Chain, of: StateOf<SubjectState>): Line {
    const key = `${chain.id} ${of.state.name} ${of.state.version}`;
    const turns = turnsOf.get(chain.id) ?? new PQueue({ concurrency: 1 });
    const line = lines.get(key) ?? { chain, of, turns, waiting: new Set() };
    turnsOf.set(chain.id, turns);
    lines.set(key, line);
    return line;
  }

  function giveTurn(line: Line, one: Waiting): void {
    line.waiting.add(one);
    void line.turns.add(() => takeTurn(line, one));
  }

  async function takeTurn(line: Line, one: Waiting): Promise<void> {
    if (!line.waiting.has(one)) return;
    const started = performance.now();
    const others = one.isAlone ? [] : [...line.waiting].filter((other) => other !== one && !other.isAlone);
    const some = [one, ...others.slice(0, SUBJECTS_TOGETHER - 1)];
    for (const each of some) line.waiting.delete(each);
    await (some.length === 1 ? buildOne(line, one) : buildSome(line, some));
    void line.turns.add(() => sleep(performance.now() - started), { priority: 1 });
  }

  async function buildOne({ chain, of }: Line, { subject, told }: Waiting): Promise<void> {
    try {
      told.resolve(await retryCommit(() => buildSubject(database, chain, of, subject)));
    } catch (error) {
      told.reject(error);
    }
  }

  /** The first of them is built, or gets another turn, alone. */
  async function buildSome(line: Line, some: readonly Waiting[]): Promise<void> {
    const { chain, of } = line;
    const subjects = some.map(({ subject }) => subject);
    const progress = await retryCommit(() => buildTogether(database, chain, of, subjects)).catch(
      // One of them may be to blame, and is told so in its own turn: the others are not to fail with it.
      (): ReadonlyMap<Address, TogetherProgress> => new Map(subjects.map((subject) => [subject, 'alone'] as const)),
    );
    for (const [place, one] of some.entries()) {
      const found = progress.get(one.subject);
      if (found !== undefined && found !== 'alone') {
        one.told.resolve(found);
        continue;
      }
      one.isAlone ||= found === 'alone';
      // Whoever did not fit has its turn still before it.
      if (place === 0) giveTurn(line, one);
      else line.waiting.add(one);
    }
  }

  return {
    nextPiece(chain, of, subject, isBegun) {
      const one = { subject, told: Promise.withResolvers<SubjectProgress>(), isAlone: isBegun };
      giveTurn(lineOf(chain, of), one);
      return one.told.promise;
    },
  };
}
