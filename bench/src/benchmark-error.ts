import { defineError } from '@chainstead/core';

/** A benchmark could not be carried out, or its sides did not do the same work. */
export class BenchmarkError extends defineError('BENCHMARK_FAILED', (message: string) => ({ message })) {}
