import type { Benchmark } from './benchmark.ts';
import { api } from './benchmarks/api.ts';
import { backfillBare } from './benchmarks/backfill-bare.ts';
import { backfillPonder } from './benchmarks/backfill-ponder.ts';

/** Every benchmark, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [backfillPonder, backfillBare, api];
