/**
 * Limits requests in flight and the bytes of their responses, if the size of the next response is estimated from
 * earlier ones.
 */
export interface AnswerBudget {
  /** Runs immediately, or when enough running work has ended, in order of arrival. One may always run. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Records the size of a response. */
  observe(bytes: number): void;
}

/** Weight of a new size in the estimate. A larger size replaces the estimate. */
const WEIGHT = 0.2;

export interface AnswerBudgetLimits {
  /** Estimated bytes in flight. */
  readonly bytesMax: number;
  /** Default: as many as fit. */
  readonly requestsMax?: number;
}

export function createAnswerBudget(limits: AnswerBudgetLimits): AnswerBudget {
  const { bytesMax, requestsMax = Number.POSITIVE_INFINITY } = limits;
  const waiting: ((reserved: number) => void)[] = [];
  let estimate = 0;
  let used = 0;
  let running = 0;

  function isFree(): boolean {
    return running === 0 || (running < requestsMax && used + estimate <= bytesMax);
  }

  function reserve(): number {
    running++;
    used += estimate;
    return estimate;
  }

  function release(reserved: number): void {
    running--;
    used -= reserved;
    while (isFree()) {
      const next = waiting.shift();
      if (next === undefined) return;
      next(reserve());
    }
  }

  return {
    async run(work) {
      let reserved: number;
      if (waiting.length === 0 && isFree()) reserved = reserve();
      else {
        const turn = Promise.withResolvers<number>();
        waiting.push(turn.resolve);
        reserved = await turn.promise;
      }
      try {
        return await work();
      } finally {
        release(reserved);
      }
    },
    observe(bytes) {
      estimate = bytes > estimate ? bytes : estimate + (bytes - estimate) * WEIGHT;
    },
  };
}
