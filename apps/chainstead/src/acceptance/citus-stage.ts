/** A cluster of Citus for the tests of one file, and databases on it. */
import {
  createScratchDatabase,
  findCitus,
  type ScratchCitus,
  type ScratchCluster,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe } from 'vitest';

/** Three servers start, which is slow beside other tests. */
const START_MS = 300_000;

export interface CitusStage {
  /** Runs from the first test on, and ends after the last. */
  readonly cluster: ScratchCitus;
  worker(index?: number): ScratchCluster;
  /** A database whose tables are distributed. It goes with the cluster. */
  createSpread(): Promise<ScratchDatabase>;
  /** One that is distributed, and one of one server to compare with. */
  createBoth(): Promise<readonly [spread: ScratchDatabase, single: ScratchDatabase]>;
}

/**
 * Tests on a cluster of their own. Without Citus they don't run, and that is said.
 * @param what is not tested then: `nodes that die`
 */
export async function describeOnCitus(
  title: string,
  what: string,
  addTests: (stage: CitusStage) => void,
): Promise<void> {
  const programs = await findCitus(what);
  describe.runIf(programs !== undefined)(title, () => {
    let running: ScratchCitus | undefined;
    const opened: ScratchDatabase[] = [];
    beforeAll(async () => {
      running = await programs?.createCluster();
    }, START_MS);
    afterAll(async () => {
      for (const scratch of opened) await scratch.drop();
      await running?.remove();
    });
    const cluster = (): ScratchCitus => {
      if (running === undefined) throw new Error('The cluster does not run yet');
      return running;
    };
    const open = async (created: Promise<ScratchDatabase>): Promise<ScratchDatabase> => {
      const scratch = await created;
      opened.push(scratch);
      return scratch;
    };
    const createSpread = () => open(cluster().createDatabase({ distributed: true }));
    addTests({
      get cluster() {
        return cluster();
      },
      worker(index = 0) {
        const found = cluster().workers[index];
        if (found === undefined) throw new Error(`The cluster has no worker ${index}`);
        return found;
      },
      createSpread,
      createBoth: () => Promise.all([createSpread(), open(createScratchDatabase())]),
    });
  });
}
