import { Counter, Gauge, type Registry } from '@chainstead/core';

/** What became of the building of a subject. */
type BuildOutcome = 'built' | 'waiting' | 'failed';

export interface KeptMetrics {
  /** The building of a subject began. @returns to be told how it ended */
  began(chain: string, state: string): (outcome: BuildOutcome) => void;
}

export function createKeptMetrics(registry: Registry): KeptMetrics {
  const registers = [registry];
  const building = new Gauge({
    name: 'chainstead_kept_building',
    help: 'Accounts and contracts of which a state is being counted for the first time, or waits for its turn',
    labelNames: ['chain', 'state'],
    registers,
  });
  const builds = new Counter({
    name: 'chainstead_kept_builds_total',
    help: 'Accounts and contracts of which a state was to be counted, by outcome: built, waiting (an index is missing), failed',
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
