import { Counter, Gauge, type Registry } from '@chainstead/core';

/** Outcomes of an aggregate build. */
type BuildOutcome = 'built' | 'waiting' | 'failed';

export interface SubjectProjectionMetrics {
  /** Records the start of a subject's build. @returns a function to call with its outcome */
  began(chain: string, state: string): (outcome: BuildOutcome) => void;
}

export function createSubjectProjectionMetrics(registry: Registry): SubjectProjectionMetrics {
  const registers = [registry];
  const building = new Gauge({
    name: 'chainstead_subject_projections_building',
    help: 'Number of accounts and contracts whose aggregate is being built for the first time or is queued',
    labelNames: ['chain', 'state'],
    registers,
  });
  const builds = new Counter({
    name: 'chainstead_subject_projection_builds_total',
    help: 'Number of first-time aggregate builds for accounts and contracts, by outcome: built, waiting (an index is missing), failed',
    labelNames: ['chain', 'state', 'outcome'],
    registers,
  });
  return {
    began(chain, state) {
      building.inc({ chain, state });
      return (outcome) => {
        building.dec({ chain, state });
        builds.inc({ chain, state, outcome });
      };
    },
  };
}
