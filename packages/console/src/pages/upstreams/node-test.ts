import type { CheckReport } from '@chainstead/core';
import { UnavailableError } from '@chainstead/http';

/** What was found of a node. */
export interface TestedNode extends CheckReport {
  readonly chain: string;
}

/** Tries a node for a chain, as `chainstead doctor` does. */
export interface NodeTest {
  /** Names of chains that nodes can be tried for. */
  readonly chains: readonly string[];
  /** Within the time of a request. @returns null where no chain has this name */
  run(chain: string, url: string): Promise<TestedNode | null>;
}

/** Each takes connections and time, of this server and of somebody's node. */
const AT_ONCE_MAX = 2;

/** As many at once as a process should make. @throws UnavailableError from run */
export function bounded(test: NodeTest): NodeTest {
  let running = 0;
  return {
    chains: test.chains,
    async run(chain, url) {
      if (running >= AT_ONCE_MAX)
        throw new UnavailableError('Other nodes are being tested: try again in half a minute');
      running += 1;
      try {
        return await test.run(chain, url);
      } finally {
        running -= 1;
      }
    },
  };
}
