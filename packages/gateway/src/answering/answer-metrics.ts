import { Counter, Gauge, type Registry } from '@chainstead/core';
import type { Outcome } from '../call.ts';

/** How calls of one method on one chain were answered. */
export interface AnswerCounts {
  /** Without an upstream. */
  hit: number;
  /** By an upstream. */
  miss: number;
  /** By the run of somebody who asked the same before. */
  coalesced: number;
  error: number;
}

/** Counts in plain numbers, which become metrics when somebody asks for them. */
export interface AnswerMetrics {
  /** The numbers of a chain's method, to be raised in place. */
  counts(slug: string, method: string): AnswerCounts;
}

/** Registers the metrics. */
export function createAnswerMetrics(options: {
  readonly registry: Registry;
  readonly cacheBytes: () => number;
  /** Block numbers by chain; null where none is known. */
  readonly heads: () => Iterable<{
    readonly slug: string;
    readonly latest: number | null;
    readonly final: number | null;
  }>;
}): AnswerMetrics {
  const { registry, cacheBytes, heads } = options;
  const registers = [registry];
  const byChain = new Map<string, Map<string, AnswerCounts>>();
  new Counter({
    name: 'chainstead_gateway_answers_total',
    help: 'JSON-RPC calls by where their answer came from: hit (no upstream), miss (an upstream), coalesced, error',
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
    help: 'Answers kept in memory',
    registers,
    collect() {
      this.set(cacheBytes());
    },
  });
  new Gauge({
    name: 'chainstead_gateway_head',
    help: 'Block number below which no answer of the gateway falls',
    labelNames: ['chain'],
    registers,
    collect() {
      for (const { slug, latest } of heads()) if (latest !== null) this.set({ chain: slug }, latest);
    },
  });
  new Gauge({
    name: 'chainstead_gateway_final_block',
    help: 'Block number up to which answers are kept for good',
    labelNames: ['chain'],
    registers,
    collect() {
      for (const { slug, final } of heads()) if (final !== null) this.set({ chain: slug }, final);
    },
  });
  return {
    counts(slug, method) {
      const methods = byChain.get(slug) ?? new Map<string, AnswerCounts>();
      byChain.set(slug, methods);
      const counts = methods.get(method) ?? { hit: 0, miss: 0, coalesced: 0, error: 0 };
      methods.set(method, counts);
      return counts;
    },
  };
}

/** Raises the right one. */
export function countOutcome(counts: AnswerCounts, outcome: Outcome, { isShared } = { isShared: false }): void {
  if (!outcome.ok) counts.error++;
  else if (outcome.cached) counts.hit++;
  else if (isShared) counts.coalesced++;
  else counts.miss++;
}
