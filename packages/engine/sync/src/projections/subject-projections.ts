import type { Chain } from '@chainstead/chains';
import { type Address, counter, defineMetrics, gauge, type Registry, within } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import type { SubjectProjection } from '../dataset/projection.ts';
import type { SubjectProgress } from './build-subjects.ts';
import { createBuildTurns } from './build-turns.ts';
import type { ProjectionOf } from './counted-rows.ts';
import { REQUESTED_AGAIN } from './noted-requests.ts';

export interface SubjectProjections {
  /** Up to date from then on. `waitMs` limits only the wait: the build continues. */
  keep(
    chain: Chain,
    of: ProjectionOf<SubjectProjection>,
    subject: Address,
    waitMs: number,
  ): Promise<SubjectProgress>;
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
    async keep(chain, of, subject, waitMs) {
      if (await isBuilt(database, chain, of, subject)) return 'built';
      // A build that fails after the wait may have no caller left: the next request retries it.
      return within(waitMs, buildOnce(chain, of, subject), () => 'building');
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
