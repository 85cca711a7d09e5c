/** Bounds requests in flight, and the bytes of their answers by what earlier answers were. */
export interface InFlight {
  /** Runs at once or when enough of what runs has ended, first come first served. One may always run. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** An answer was this large. */
  observe(bytes: number): void;
}

export interface InFlightLimits {
  readonly requestsMax: number;
  readonly bytesMax: number;
}

/** Share of a new size in the estimate; a larger one counts at once. */
const WEIGHT = 0.1;

export function createInFlight({ requestsMax, bytesMax }: InFlightLimits): InFlight {
  const waiting: ((reserved: number) => void)[] = [];
  let estimate = 0;
  let used = 0;
  let running = 0;

  const isFree = (): boolean => running === 0 || (running < requestsMax && used + estimate <= bytesMax);
  const reserve = (): number => {
    running++;
    used += estimate;
    return estimate;
  };
  const release = (reserved: number): void => {
    running--;
    used -= reserved;
    while (waiting.length > 0 && isFree()) waiting.shift()?.(reserve());
  };

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
