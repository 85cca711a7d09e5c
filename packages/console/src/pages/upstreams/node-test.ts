import type { CheckReport, Finding, OnFinding } from '@chainstead/core';
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
  run(chain: string, url: string, onFinding?: OnFinding): Promise<TestedNode | null>;
}

/** Each takes connections and time, of this server and of somebody's node. */
const AT_ONCE_MAX = 2;

/** As many at once as a process should make. @throws UnavailableError from run */
export function bounded(test: NodeTest): NodeTest {
  let running = 0;
  return {
    chains: test.chains,
    async run(chain, url, onFinding) {
      if (running >= AT_ONCE_MAX)
        throw new UnavailableError('Other nodes are being tested: try again in half a minute');
      running += 1;
      try {
        return await test.run(chain, url, onFinding);
      } finally {
        running -= 1;
      }
    },
  };
}

/** Findings as they come, of a test that goes on whether somebody listens or not. @returns what `run` gives @throws what `run` throws */
export async function* findingsOfTest(
  run: (onFinding: OnFinding) => Promise<TestedNode | null>,
): AsyncGenerator<Finding, TestedNode | null> {
  const told: Finding[] = [];
  let news = Promise.withResolvers<void>();
  let isOver = false;
  const outcome = run((finding) => {
    told.push(finding);
    news.resolve();
  });
  const end = (): void => {
    isOver = true;
    news.resolve();
  };
  outcome.then(end, end);
  for (;;) {
    await news.promise;
    news = Promise.withResolvers();
    yield* told.splice(0);
    if (isOver && told.length === 0) return outcome;
  }
}
