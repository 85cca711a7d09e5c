/** The counters as plain values. */
export interface RequestCounts {
  readonly httpRequests: number;
  readonly batches: number;
  /** Calls by method, those inside batches included. */
  readonly calls: Readonly<Record<string, number>>;
  /** Bytes of request and answer bodies. */
  readonly bytesReceived: number;
  readonly bytesSent: number;
}

/** What a server was asked and what it sent since its start or the last reset. */
export interface RequestCounters extends RequestCounts {
  httpRequests: number;
  batches: number;
  bytesReceived: number;
  bytesSent: number;
  count(method: string): void;
  snapshot(): RequestCounts;
  reset(): void;
}

export function createRequestCounters(): RequestCounters {
  const calls: Record<string, number> = {};
  const counters: RequestCounters = {
    httpRequests: 0,
    batches: 0,
    calls,
    bytesReceived: 0,
    bytesSent: 0,
    count(method) {
      calls[method] = (calls[method] ?? 0) + 1;
    },
    snapshot: () => ({
      httpRequests: counters.httpRequests,
      batches: counters.batches,
      calls: { ...calls },
      bytesReceived: counters.bytesReceived,
      bytesSent: counters.bytesSent,
    }),
    reset() {
      counters.httpRequests = 0;
      counters.batches = 0;
      counters.bytesReceived = 0;
      counters.bytesSent = 0;
      for (const method of Object.keys(calls)) delete calls[method];
    },
  };
  return counters;
}
