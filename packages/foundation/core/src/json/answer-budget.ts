export interface AnswerBudget {
  /** In order of arrival; one may always run. @param bytes expected size @default the estimate */
  run<T>(work: () => Promise<T>, bytes?: number): Promise<T>;
  observe(bytes: number): void;
}

const WEIGHT = 0.2;

/** @param limits in flight: estimated bytes, and requests @default as many as fit */
export function createAnswerBudget(limits: {
  readonly bytesMax: number;
  readonly requestsMax?: number;
}): AnswerBudget {
  const { bytesMax, requestsMax = Number.POSITIVE_INFINITY } = limits;
  const waiting: { readonly bytes: number | undefined; readonly begin: (reserved: number) => void }[] = [];
  let estimate = 0;
  let used = 0;
  let running = 0;

  function isFree(bytes = estimate): boolean {
    return running === 0 || (running < requestsMax && used + bytes <= bytesMax);
  }

  function reserve(bytes = estimate): number {
    running++;
    used += bytes;
    return bytes;
  }

  function release(reserved: number): void {
    running--;
    used -= reserved;
    for (let next = waiting[0]; next !== undefined && isFree(next.bytes); next = waiting[0]) {
      waiting.shift();
      next.begin(reserve(next.bytes));
    }
  }

  return {
    async run(work, bytes) {
      let reserved: number;
      if (waiting.length === 0 && isFree(bytes)) reserved = reserve(bytes);
      else {
        const turn = Promise.withResolvers<number>();
        waiting.push({ bytes, begin: turn.resolve });
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
