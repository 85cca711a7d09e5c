/** Bounds requests in flight, and the bytes of their answers, when only earlier answers tell how large the next will be. */
export interface AnswerBudget {
  /** Runs at once or when enough of what runs has ended, first come first served. One may always run. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** An answer was this large. */
  observe(bytes: number): void;
}

/** Share of a new size in the estimate; a larger one counts at once. */
const WEIGHT = 0.2;

export interface AnswerBudgetLimits {
  /** In flight, by the estimate. */
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
