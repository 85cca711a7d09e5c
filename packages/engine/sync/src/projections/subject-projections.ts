import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import {
  type Address,
  type ChainId,
  counter,
  defineMetrics,
  gauge,
  type Registry,
  waitLeft,
  within,
} from '@chainstead/core';
import { addressBytes, type Database, rawSql, type Sql, sql } from '@chainstead/db';
import PQueue from 'p-queue';
import type { SubjectProjection } from '../dataset/projection.ts';
import { retryCommit } from '../rows/commit-retry.ts';
import { buildSubject, buildTogether, type SubjectProgress, type TogetherProgress } from './build-subjects.ts';
import type { ProjectionOf } from './counted-rows.ts';

export interface SubjectProjections {
  /** Up to date from then on. If the request's wait ends earlier, the build continues. */
  keep(chain: Chain, of: ProjectionOf<SubjectProjection>, subject: Address): Promise<SubjectProgress>;
}

export const createBuildMetrics = defineMetrics('chainstead', {
  subjectProjectionsBuilding: gauge(
    'Number of accounts and contracts whose aggregate is being built for the first time or is queued',
    ['chain', 'state'],
  ),
  subjectProjectionBuilds: counter(
    'Number of first-time aggregate builds for accounts and contracts, by outcome: built, waiting (an index is missing), failed',
    ['chain', 'state', 'outcome'],
  ),
});

/** @default builds are not counted */
export function createSubjectProjections(database: Database, metrics?: Registry): SubjectProjections {
  const counted = metrics && createBuildMetrics(metrics);
  const builds = new Map<string, Promise<SubjectProgress>>();
  const turns = createBuildTurns(database);

  async function build(
    chain: Chain,
    of: ProjectionOf<SubjectProjection>,
    subject: Address,
  ): Promise<SubjectProgress> {
    const labels = { chain: chain.key, state: of.state.name };
    counted?.subjectProjectionsBuilding.inc(labels);
    let outcome = 'failed';
    try {
      for (let isBegun = false; ; isBegun = true) {
        const progress = await turns.nextPiece(chain, of, subject, isBegun);
        if (progress === 'building') continue;
        outcome = progress;
        return progress;
      }
    } finally {
      counted?.subjectProjectionsBuilding.dec(labels);
      counted?.subjectProjectionBuilds.inc({ ...labels, outcome });
    }
  }

  function buildOnce(
    chain: Chain,
    of: ProjectionOf<SubjectProjection>,
    subject: Address,
  ): Promise<SubjectProgress> {
    const key = `${chain.id} ${of.state.name} ${subject}`;
    const running = builds.get(key);
    if (running !== undefined) return running;
    const begun = build(chain, of, subject).finally(() => builds.delete(key));
    builds.set(key, begun);
    return begun;
  }

  return {
    async keep(chain, of, subject) {
      if (await isBuilt(database, chain, of, subject)) return 'built';
      // A build that fails after the wait may have no caller left: the next request retries it.
      return within(waitLeft(), buildOnce(chain, of, subject), () => 'building');
    },
  };
}

async function isBuilt(
  database: Database,
  chain: Chain,
  { state }: ProjectionOf<SubjectProjection>,
  subject: Address,
): Promise<boolean> {
  const isOfSubject = sql`chain_id = ${chain.id} AND state = ${state.name} AND subject = ${addressBytes(subject)}`;
  const [built] = await database.query<{ isOld: boolean }>(
    sql`SELECT stored.asked_at < now() - ${REQUESTED_AGAIN} AS "isOld" FROM subject_projections AS stored
      WHERE ${isOfSubject} AND built_to IS NULL AND NOT is_stale
        AND EXISTS (SELECT FROM projections AS known WHERE known.chain_id = ${chain.id} AND known.state = ${state.name} AND known.version = ${state.version})`,
  );
  if (built?.isOld === true)
    await database.query(sql`UPDATE subject_projections SET asked_at = now() WHERE ${isOfSubject}`);
  return built !== undefined;
}

/** A piece blocks the chain's commits, which must get half of the time. */
interface BuildTurns {
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

function createBuildTurns(database: Database): BuildTurns {
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

/** Between records of requests. After weeks without one, a subject's rows are deleted. */
const REQUESTED_AGAIN = sql`interval '6 hours'`;

/** A recent request is recorded: `SubjectProjections.keep` need not be called. */
export function isAskNoted(chainId: ChainId | Sql, subject: Sql, { name }: Pick<SubjectProjection, 'name'>): Sql {
  return sql`EXISTS (SELECT FROM subject_projections AS noted WHERE noted.chain_id = ${chainId} AND noted.state = ${rawSql(`'${name}'`)} AND noted.subject = ${subject}
    AND ${isNoted('noted')})`;
}

export function isNoted(row: string): Sql {
  return sql`${rawSql(row)}.asked_at >= now() - ${REQUESTED_AGAIN}`;
}
