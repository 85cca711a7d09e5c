import { Counter, Gauge, getOrCompute, type Registry } from '@chainstead/core';
import type { Outcome } from '../call.ts';

export interface AnswerCounts {
  hit: number;
  miss: number;
  coalesced: number;
  error: number;
}

export function createAnswerMetrics(options: {
  readonly registry: Registry;
  readonly cacheBytes: () => number;
  readonly heads: () => Iterable<{ readonly slug: string } & Readonly<Record<'latest' | 'final', number | null>>>;
}) {
  const { registry, cacheBytes, heads } = options;
  const registers = [registry];
  const byChain = new Map<string, Map<string, AnswerCounts>>();
  new Counter({
    name: 'chainstead_gateway_answers_total',
    help: 'Number of JSON-RPC calls by outcome: hit (served from memory), miss (served by an upstream), coalesced (shared with an identical call), error',
    labelNames: ['chain', 'method', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const [chain, methods] of byChain)
        for (const [method, counts] of methods)
          for (const [outcome, calls] of Object.entries(counts))
            if (calls > 0) this.inc({ chain, method, outcome }, calls);
    },
  });
  new Gauge({
    name: 'chainstead_gateway_cache_bytes',
    help: 'Number of bytes of cached responses in memory',
    registers,
    collect() {
      this.set(cacheBytes());
    },
  });
  new Gauge({
    name: 'chainstead_gateway_head',
    help: 'Head block number of the gateway. No response is based on an older head',
    labelNames: ['chain'],
    registers,
    collect() {
      for (const { slug, latest } of heads()) if (latest !== null) this.set({ chain: slug }, latest);
    },
  });
  new Gauge({
    name: 'chainstead_gateway_final_block',
    help: 'Newest block number whose responses are cached permanently',
    labelNames: ['chain'],
    registers,
    collect() {
      for (const { slug, final } of heads()) if (final !== null) this.set({ chain: slug }, final);
    },
  });
  return {
    counts(slug: string, method: string): AnswerCounts {
      const methods = getOrCompute(byChain, slug, () => new Map());
      return getOrCompute(methods, method, () => ({ hit: 0, miss: 0, coalesced: 0, error: 0 }));
    },
  };
}

export function countOutcome(counts: AnswerCounts, outcome: Outcome, { isShared } = { isShared: false }): void {
  if (!outcome.ok) counts.error++;
  else if (outcome.cached) counts.hit++;
  else if (isShared) counts.coalesced++;
  else counts.miss++;
}
