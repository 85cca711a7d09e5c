import { ChainsteadError } from '@chainstead/core';

/** A benchmark could not be carried out, or its sides did not do the same work. */
export class BenchmarkError extends ChainsteadError {
  constructor(message: string) {
    super({ code: 'BENCHMARK_FAILED', message, retryable: false });
  }
}
