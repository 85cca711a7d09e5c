import type { CheckReport, Finding, OnFinding } from '@chainstead/core';
import { UnavailableError } from '@chainstead/http';

export interface TestedNode extends CheckReport {
  readonly chain: string;
}

export interface NodeTest {
  readonly chains: readonly string[];
  /** Within the time of a request. @returns null if no chain has this name */
  run(chain: string, url: string, onFinding?: OnFinding): Promise<TestedNode | null>;
}

const AT_ONCE_MAX = 2;

export function bounded(test: NodeTest): NodeTest {
  let running = 0;
  return {
    chains: test.chains,
    async run(chain, url, onFinding) {
      if (running >= AT_ONCE_MAX)
        throw new UnavailableError('Other tests of upstreams are running. Retry in 30 s');
      running += 1;
      try {
        return await test.run(chain, url, onFinding);
      } finally {
        running -= 1;
      }
    },
  };
}

export async function* findingsOfTest(
  run: (onFinding: OnFinding) => Promise<TestedNode | null>,
): AsyncGenerator<Finding, TestedNode | null> {
  const reported: Finding[] = [];
  let news = Promise.withResolvers<void>();
  let isOver = false;
  const outcome = run((finding) => {
    reported.push(finding);
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
    yield* reported.splice(0);
    if (isOver && reported.length === 0) return outcome;
  }
}
