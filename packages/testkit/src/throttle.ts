import type { Faults, ThrottleStyle } from './faults.ts';
import type { JsonPieces, RpcReply } from './json-rpc-reply.ts';

/** Refuses calls in the way that the throttle setting says. */
export interface Throttle {
  /** The answer to a whole HTTP request of so many calls that is refused, or null to let it through. */
  refuseRequest(calls: number): {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly pieces: JsonPieces;
  } | null;
  /** The error for one call that is refused, or null to let it through. */
  refuseCall(): RpcReply | null;
}

const RPC_REFUSALS: Readonly<Record<Exclude<ThrottleStyle, 'http-429'>, RpcReply>> = {
  'rpc-32005': { error: { code: -32005, message: 'project ID request rate exceeded' } },
  'rpc-429-in-200': {
    error: { code: 429, message: 'Your app has exceeded its compute units per second capacity.' },
  },
};

export function createThrottle(faults: Faults): Throttle {
  let second = 0;
  let callsInSecond = 0;

  function exceeds(calls: number): boolean {
    const limit = faults.settings.throttle;
    if (limit === null) return false;
    if (faults.roll('throttle', limit.rate ?? 0)) return true;
    if (limit.callsPerSecond === undefined) return false;
    const now = Math.floor(Date.now() / 1_000);
    if (now !== second) {
      second = now;
      callsInSecond = 0;
    }
    callsInSecond += calls;
    return callsInSecond > limit.callsPerSecond && faults.roll('throttle', 1);
  }

  return {
    refuseRequest(calls) {
      const limit = faults.settings.throttle;
      if (limit?.style !== 'http-429' || !exceeds(calls)) return null;
      const headers = limit.retryAfterSeconds === undefined ? {} : { 'retry-after': String(limit.retryAfterSeconds) };
      return { status: 429, headers, pieces: ['{"error":"Too Many Requests"}'] };
    },
    refuseCall() {
      const limit = faults.settings.throttle;
      if (limit === null || limit.style === 'http-429' || !exceeds(1)) return null;
      return RPC_REFUSALS[limit.style];
    },
  };
}
